"""Public names of the package; each is imported when it is first used."""

from passband.view.server.serving import check_sources as check_sources
from passband.view.server.serving import open_in_browser as open_in_browser
from passband.view.server.serving import serve as serve
