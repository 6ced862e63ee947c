"""Public names of the package; each is imported when it is first used."""

from passband.writers.writing import form_of_name as form_of_name
from passband.writers.writing import write as write
from passband.writers.writing import writers as writers
