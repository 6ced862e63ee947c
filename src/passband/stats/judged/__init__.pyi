"""Public names of the package; each is imported when it is first used."""

from passband.stats.judged.correction import corrected as corrected
from passband.stats.judged.difference import corrected_difference as corrected_difference
from passband.stats.judged.draw import Drawn as Drawn
from passband.stats.judged.draw import draw_labels as draw_labels
from passband.stats.judged.judge_agreement import JudgeAgreement as JudgeAgreement
from passband.stats.judged.judge_agreement import Rate as Rate
from passband.stats.judged.judge_agreement import agreement as agreement
from passband.stats.judged.judged import Design as Design
from passband.stats.judged.judged import Judged as Judged
from passband.stats.judged.next_data import NextData as NextData
from passband.stats.judged.next_data import Prices as Prices
from passband.stats.judged.notes import FEWEST_LABELS as FEWEST_LABELS
from passband.stats.judged.split import JudgedSplit as JudgedSplit
from passband.stats.judged.split import split_judged as split_judged
