"""Public names of the package; each is imported when it is first used."""

from passband.system.cpus import CPUS_VARIABLE as CPUS_VARIABLE
from passband.system.cpus import available_cpus as available_cpus
from passband.system.event_loop import complete as complete
from passband.system.event_loop import complete_anywhere as complete_anywhere
from passband.system.event_loop import is_inside_a_loop as is_inside_a_loop
from passband.system.event_loop import until_signal as until_signal
from passband.system.processes.bpf import ANY_BIT as ANY_BIT
from passband.system.processes.bpf import assemble as assemble
from passband.system.processes.bpf import is_supported as is_supported
from passband.system.processes.bpf import jump as jump
from passband.system.processes.bpf import unless as unless
from passband.system.processes.guard import hide_ctypes as hide_ctypes
from passband.system.processes.guard import limit_resources as limit_resources
from passband.system.processes.guard import lock_down as lock_down
from passband.system.processes.launch import end_process as end_process
from passband.system.processes.launch import find_program as find_program
from passband.system.processes.launch import launch as launch
from passband.system.processes.launch import start_on_socket as start_on_socket
from passband.system.processes.pool import PooledProcess as PooledProcess
from passband.system.processes.pool import ProcessPool as ProcessPool
