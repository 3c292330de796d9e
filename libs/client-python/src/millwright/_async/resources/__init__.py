"""The resources, as the paths of the API are."""

from .agent import AsyncAgent as AsyncAgent
from .api_keys import AsyncApiKeys as AsyncApiKeys
from .audit import AsyncAudit as AsyncAudit
from .explanations import AsyncExplanations as AsyncExplanations
from .factories import AsyncFactories as AsyncFactories
from .factory_files import AsyncFactoryFiles as AsyncFactoryFiles
from .federated_credentials import AsyncFederatedCredentials as AsyncFederatedCredentials
from .networking import AsyncNetworking as AsyncNetworking
from .secrets import AsyncSecrets as AsyncSecrets
from .signature_schemes import AsyncSignatureSchemes as AsyncSignatureSchemes
from .statistics import AsyncStatistics as AsyncStatistics
