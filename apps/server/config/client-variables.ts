/** Variables that the service only knows. */
import type { Variable } from './variables.ts';

/** Read by the command line and the client libraries, known here so that one environment serves all. */
export const CLIENT_VARIABLES = [
  {
    name: 'MILLWRIGHT_SERVER',
    byDefault: 'http://127.0.0.1:8080',
    meaning: 'read by the command line: where the service is',
  },
  {
    name: 'MILLWRIGHT_API_KEY',
    byDefault: '',
    meaning: 'read by the command line and the clients: the key to show it',
  },
  {
    name: 'MILLWRIGHT_BASE_URL',
    byDefault: '',
    meaning: 'read by the client libraries, and by the command line where `MILLWRIGHT_SERVER` is not set',
  },
  {
    name: 'MILLWRIGHT_CONFIG',
    byDefault: '`~/.config/millwright/config.json`',
    meaning: 'read by the command line: the file of its contexts',
  },
  {
    name: 'MILLWRIGHT_CUSTOM_HEADERS',
    byDefault: '',
    meaning: 'read by the clients and the command line: headers of every request, one `Name: value` a line',
  },
  { name: 'MILLWRIGHT_CONTEXT', byDefault: '', meaning: 'read by the command line: the context to use' },
  {
    name: 'MILLWRIGHT_ID_TOKEN',
    byDefault: '',
    meaning: 'read by the command line: a token of the build server, which is exchanged for a key where none is given',
  },
  {
    name: 'MILLWRIGHT_OIDC_AUDIENCE',
    byDefault: 'the address of the service',
    meaning: 'read by the command line: whom GitHub Actions makes a token for',
  },
  {
    name: 'MILLWRIGHT_FEDERATED_CREDENTIAL',
    byDefault: '',
    meaning: 'read by the command line: the ID of the federated credential that is meant, where several fit a token',
  },
  { name: 'MILLWRIGHT_LOG', byDefault: '', meaning: 'read by the client libraries: what they log' },
] as const satisfies readonly Variable[];
