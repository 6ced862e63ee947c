"""Public names of the package; each is imported when it is first used."""

from passband.stats.irt.ability import Ability as Ability
from passband.stats.irt.ability import ability_of as ability_of
from passband.stats.irt.ability import estimate_ability as estimate_ability
from passband.stats.irt.accuracy import MODEL_ACCURACY as MODEL_ACCURACY
from passband.stats.irt.accuracy import BankAccuracy as BankAccuracy
from passband.stats.irt.accuracy import bank_accuracy as bank_accuracy
from passband.stats.irt.accuracy import stratum_accuracy as stratum_accuracy
from passband.stats.irt.calibration import Calibration as Calibration
from passband.stats.irt.calibration import Link as Link
from passband.stats.irt.calibration import calibrate as calibrate
from passband.stats.irt.calibration import link_items as link_items
from passband.stats.irt.items import ItemModel as ItemModel
from passband.stats.irt.items import Items as Items
from passband.stats.irt.items import information as information
from passband.stats.irt.items import kl_information as kl_information
from passband.stats.irt.posterior import AbilityPosterior as AbilityPosterior
from passband.stats.irt.posterior import Grid as Grid
from passband.stats.irt.responses import ItemEvidence as ItemEvidence
from passband.stats.irt.responses import check_evidence as check_evidence
