"""Public names of the package; each is imported when it is first used."""

from passband.stats.metric.components import Credit as Credit
from passband.stats.metric.components import ProblemValue as ProblemValue
from passband.stats.metric.components import blend as blend
from passband.stats.metric.credits import all_of as all_of
from passband.stats.metric.credits import at_least as at_least
from passband.stats.metric.credits import expected_credit as expected_credit
from passband.stats.metric.measurement import Curve as Curve
from passband.stats.metric.measurement import Measurement as Measurement
from passband.stats.metric.measurement import bounds as bounds
from passband.stats.metric.measurement import measure as measure
from passband.stats.metric.measurement import not_enough_data as not_enough_data
from passband.stats.metric.measurement import not_measurable as not_measurable
from passband.stats.metric.metric import BlendMetric as BlendMetric
from passband.stats.metric.metric import MeanMetric as MeanMetric
from passband.stats.metric.names import MetricName as MetricName
from passband.stats.metric.names import parse_name as parse_name
from passband.stats.metric.posterior import CategoryCounts as CategoryCounts
from passband.stats.metric.posterior import Moments as Moments
from passband.stats.metric.posterior import posterior_moments as posterior_moments
from passband.stats.metric.registry import expand_metrics as expand_metrics
from passband.stats.metric.registry import families as families
from passband.stats.metric.registry import measured_on as measured_on
from passband.stats.metric.registry import needs_answers as needs_answers
from passband.stats.metric.registry import parse_metric as parse_metric
from passband.stats.metric.registry import register_family as register_family
from passband.stats.metric.registry import register_metric as register_metric
