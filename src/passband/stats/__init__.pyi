"""Public names of the package; each is imported when it is first used."""

from passband.stats.checks import Over as Over
from passband.stats.checks import as_level as as_level
from passband.stats.checks import as_number as as_number
from passband.stats.checks import as_positive as as_positive
from passband.stats.checks import as_share as as_share
from passband.stats.checks import as_whole as as_whole
from passband.stats.checks import check_over as check_over
from passband.stats.checks import check_text as check_text
