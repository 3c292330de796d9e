# Generated from _async/resources/__init__.py by scripts/unasync.py; do not edit.
"""The resources, as the paths of the API are."""

from .agent import Agent as Agent
from .api_keys import ApiKeys as ApiKeys
from .audit import Audit as Audit
from .explanations import Explanations as Explanations
from .factories import Factories as Factories
from .factory_files import FactoryFiles as FactoryFiles
from .federated_credentials import FederatedCredentials as FederatedCredentials
from .networking import Networking as Networking
from .secrets import Secrets as Secrets
from .signature_schemes import SignatureSchemes as SignatureSchemes
from .statistics import Statistics as Statistics
