"""Public names of the package; each is imported when it is first used."""

from passband.cluster.address import Address as Address
from passband.cluster.address import parse_address as parse_address
from passband.cluster.connection import connect as connect
from passband.cluster.connection import ray_module as ray_module
from passband.cluster.nodes import ClusterFailed as ClusterFailed
from passband.cluster.nodes import Node as Node
from passband.cluster.nodes import UnequalNodes as UnequalNodes
from passband.cluster.nodes import on_each_node as on_each_node
from passband.cluster.nodes import unwrapped as unwrapped
from passband.cluster.nodes import working_nodes as working_nodes
from passband.cluster.tasks import map_tasks as map_tasks
