"""Public names of the package; each is imported when it is first used."""

from passband.files.columns import matching as matching
from passband.files.columns import normalized as normalized
from passband.files.frames import Framed as Framed
from passband.files.frames import Kind as Kind
from passband.files.json_stream import JsonStream as JsonStream
from passband.files.records import ENDINGS as ENDINGS
from passband.files.records import Form as Form
from passband.files.records import check_header as check_header
from passband.files.records import column_names as column_names
from passband.files.records import form_of as form_of
from passband.files.records import joined_cells as joined_cells
from passband.files.records import open_delimited as open_delimited
from passband.files.records import parse_json as parse_json
from passband.files.records import read_json as read_json
from passband.files.records import read_parquet as read_parquet
from passband.files.records import read_records as read_records
from passband.files.records import read_text as read_text
from passband.files.records import reading as reading
from passband.files.records import require_file as require_file
from passband.files.records import text_chunks as text_chunks
from passband.files.records import text_lines as text_lines
from passband.files.spreadsheet import guarded as guarded
from passband.files.spreadsheet import unguarded as unguarded
from passband.files.zip import ZipMembers as ZipMembers
from passband.files.zip import first_name as first_name
