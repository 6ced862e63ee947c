"""Public names of the package; each is imported when it is first used."""

from passband.stats.evidence.collect import evidence_of as evidence_of
from passband.stats.evidence.collect import evidence_of_all as evidence_of_all
from passband.stats.evidence.counts import StoppedCounts as StoppedCounts
from passband.stats.evidence.counts import stopping_of as stopping_of
from passband.stats.evidence.order import order_findings as order_findings
from passband.stats.evidence.problems import problem_copies as problem_copies
from passband.stats.evidence.problems import unasked_findings as unasked_findings
from passband.stats.evidence.texts import solved_share as solved_share
from passband.stats.evidence.texts import text_findings as text_findings
