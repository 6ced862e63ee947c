"""Public names of the package; each is imported when it is first used."""

from passband.stats.sequential.allocate import sizes_from as sizes_from
from passband.stats.sequential.bernstein import BernsteinSequence as BernsteinSequence
from passband.stats.sequential.bernstein import Rounds as Rounds
from passband.stats.sequential.rate import RatePlan as RatePlan
from passband.stats.sequential.rate import RateVerdict as RateVerdict
from passband.stats.sequential.rate import operating as operating
from passband.stats.sequential.rate import rate_interval as rate_interval
from passband.stats.sequential.settle import LookPlan as LookPlan
from passband.stats.sequential.settle import likely_rounds as likely_rounds
from passband.stats.sequential.settle import looks_from as looks_from
from passband.stats.sequential.settle import plan_looks as plan_looks
from passband.stats.sequential.settle import take_look as take_look
from passband.stats.sequential.stopped_logs import StoppingRule as StoppingRule
from passband.stats.sequential.stopped_logs import estimate_stopped as estimate_stopped
from passband.stats.sequential.width import FORECAST_AFTER as FORECAST_AFTER
from passband.stats.sequential.width import Reason as Reason
from passband.stats.sequential.width import WidthLook as WidthLook
from passband.stats.sequential.width import WidthRule as WidthRule
from passband.stats.sequential.width import WidthStop as WidthStop
from passband.stats.sequential.width import can_look as can_look
from passband.stats.sequential.width import forecast as forecast
from passband.stats.sequential.width import least_half_width as least_half_width
from passband.stats.sequential.width import look_at as look_at
from passband.stats.sequential.width import most_rounds as most_rounds
from passband.stats.sequential.width import reason_to_stop as reason_to_stop
from passband.stats.sequential.width import replay as replay
