/** Every environment variable: its name, its default in words, and what it means. The guide's table is made of it. */

import { CLIENT_VARIABLES } from './client-variables.ts';
import { TRACE_VARIABLES } from './trace-settings.ts';

export interface Variable {
  name: `MILLWRIGHT_${string}` | `OTEL_${string}`;
  /** The default as people read it; empty: there is none. */
  byDefault: string;
  meaning: string;
}

/** Read by the service. The rule of each is in `config.ts`, where it is read. */
const SERVICE_VARIABLES = [
  { name: 'MILLWRIGHT_PORT', byDefault: '8080', meaning: 'where the service listens' },
  {
    name: 'MILLWRIGHT_HOST',
    byDefault: '127.0.0.1',
    meaning: 'reachable from this machine only until you say otherwise',
  },
  {
    name: 'MILLWRIGHT_PUBLIC_URL',
    byDefault: 'from host and port',
    meaning: 'root of API and links; other Host headers are answered 421',
  },
  { name: 'MILLWRIGHT_INGRESS_URL', byDefault: 'the public URL', meaning: 'root of the ingress' },
  { name: 'MILLWRIGHT_ALLOW_HTTP', byDefault: 'false', meaning: 'allows a URL beyond this machine that is not https' },
  { name: 'MILLWRIGHT_TLS_CERT_FILE', byDefault: '', meaning: 'certificate, to serve https without a proxy' },
  { name: 'MILLWRIGHT_TLS_KEY_FILE', byDefault: '', meaning: 'its key' },
  {
    name: 'MILLWRIGHT_TRUSTED_PROXIES',
    byDefault: '',
    meaning: 'addresses or ranges whose `X-Forwarded-For` is believed',
  },
  {
    name: 'MILLWRIGHT_API_RATE',
    byDefault: '6000',
    meaning: 'requests a minute and API key, counted by each process; 0: not limited',
  },
  {
    name: 'MILLWRIGHT_API_AUTH_FAILURES',
    byDefault: '60',
    meaning:
      'requests without a valid API key a minute and client address before they are 429 instead of 401; no ' +
      'valid key is ever refused for them; 0: not limited',
  },
  {
    name: 'MILLWRIGHT_OIDC_PRIVATE_HOSTS',
    byDefault: '',
    meaning:
      'hosts of your own network (each with :port if needed, separated by commas) at which issuers of tokens may be ' +
      'asked for their keys; without it public addresses only',
  },
  {
    name: 'MILLWRIGHT_SESSION_HOURS',
    byDefault: '12',
    meaning: 'how long somebody who signed in on the web page stays so; a session ends earlier with its API key',
  },
  {
    name: 'MILLWRIGHT_LOG_LEVEL',
    byDefault: 'info',
    meaning: '`warn` and `error` leave out the line that each request of the API writes',
  },
  { name: 'MILLWRIGHT_METRICS_LISTEN', byDefault: 'none', meaning: '`host:port` where `/metrics` needs no key' },
  {
    name: 'MILLWRIGHT_DATA_DIR',
    byDefault: './.millwright',
    meaning: 'folder for keys, caches and workspaces; one process at a time',
  },
  { name: 'MILLWRIGHT_DATABASE_URL', byDefault: 'SQLite in the data folder', meaning: '`postgres://…`' },
  {
    name: 'MILLWRIGHT_DATABASE_DIRECT_URL',
    byDefault: 'the database URL',
    meaning:
      'the same PostgreSQL without the pooler between, where there is one: for notifications, and for the ' +
      'locks and settings of a session',
  },
  {
    name: 'MILLWRIGHT_ROLES',
    byDefault: 'all',
    meaning: 'what this process does; `--roles` says the same. With SQLite one process does everything',
  },
  {
    name: 'MILLWRIGHT_ENGINE',
    byDefault: 'embedded',
    meaning: '`bullmq`: a queue tells worker processes of runs, in the database or in Redis',
  },
  { name: 'MILLWRIGHT_REDIS_URL', byDefault: 'the database', meaning: 'where the queue of `bullmq` is' },
  {
    name: 'MILLWRIGHT_WORKER_HOST',
    byDefault: "the host's name",
    meaning: 'what this machine is called by runs with a `worker_host`',
  },
  {
    name: 'MILLWRIGHT_WORKER_ENVIRONMENTS',
    byDefault: 'all',
    meaning: 'environments whose runs this process works on, by name or UID, separated by commas',
  },
  {
    name: 'MILLWRIGHT_MASTER_KEY_FILE',
    byDefault: 'in the data folder',
    meaning: '32 bytes that encrypt secrets: raw, hex or base64; must exist when set',
  },
  {
    name: 'MILLWRIGHT_UID_KEY_FILE',
    byDefault: 'in the data folder',
    meaning: '32 bytes that UIDs are derived with: raw, hex or base64; must exist when set',
  },
  { name: 'MILLWRIGHT_ADMIN_KEY', byDefault: 'generated', meaning: 'first admin key on an empty database' },
  {
    name: 'MILLWRIGHT_SYNC_INTERVAL',
    byDefault: '60',
    meaning: 'seconds between looks at a repository (± 5 %); an unchanged commit costs one ref advertisement',
  },
  {
    name: 'MILLWRIGHT_ALLOW_LOCAL_SOURCES',
    byDefault: 'false',
    meaning: 'directories and `file:` repositories as sources over the API: they are folders of this machine',
  },
  { name: 'MILLWRIGHT_GIT_CA_FILE', byDefault: '', meaning: 'further certificates for git and secrets of runs' },
  {
    name: 'MILLWRIGHT_GIT_KNOWN_HOSTS_FILE',
    byDefault: '',
    meaning: 'hosts that git over ssh may talk to; without it every one is refused',
  },
  {
    name: 'MILLWRIGHT_RUN_COMMAND',
    byDefault: 'none',
    meaning:
      'program and arguments of the `command` harness, which then is the default; `{"type": "command"}` ' +
      'without it runs a small example script',
  },
  { name: 'MILLWRIGHT_RUN_CONCURRENCY', byDefault: '4', meaning: 'runs at once in this process; 0: none here' },
  {
    name: 'MILLWRIGHT_RUNS_PER_FACTORY',
    byDefault: 'in each process all places but one',
    meaning: 'runs at once of one factory, in all processes; 0: no bound',
  },
  {
    name: 'MILLWRIGHT_RUNS_PER_AUTOMATION',
    byDefault: '0',
    meaning: 'runs at once of one automation, in all processes; 0: no bound',
  },
  { name: 'MILLWRIGHT_RUN_TIMEOUT', byDefault: '3600', meaning: 'seconds until an execution is ended' },
  { name: 'MILLWRIGHT_RUN_TOKENS_MAX', byDefault: '0', meaning: 'tokens that a run may use up; 0: no bound' },
  { name: 'MILLWRIGHT_RUN_COST_MAX', byDefault: '0', meaning: 'money that a run may use up; 0: no bound' },
  {
    name: 'MILLWRIGHT_SETUP_TIMEOUT',
    byDefault: '600',
    meaning: 'seconds for each repository and each set-up command of an environment',
  },
  {
    name: 'MILLWRIGHT_DRAIN_SECONDS',
    byDefault: '5',
    meaning: 'how long a stopping service lets executions end by themselves before it hands them over',
  },
  {
    name: 'MILLWRIGHT_AGENT_PROFILES_FILE',
    byDefault: '',
    meaning: 'launch profiles of agents that the operator adds or changes',
  },
  {
    name: 'MILLWRIGHT_FORGE_URL',
    byDefault: "where the factory's own repository is",
    meaning: 'URL below which repositories named `owner/name` are',
  },
  {
    name: 'MILLWRIGHT_MODELS',
    byDefault: 'none',
    meaning: 'model IDs, separated by commas, that `GET /agent/models` offers beside those that definitions name',
  },
  {
    name: 'MILLWRIGHT_RUN_NETWORK',
    byDefault: 'allow-list',
    meaning:
      'what runs may reach at most: `none`, `allow-list`, `open` (every public address) or `host` (the network ' +
      'of the machine as it is, this service, private networks and cloud metadata included)',
  },
  {
    name: 'MILLWRIGHT_RUN_ALLOW_HOSTS',
    byDefault: '',
    meaning:
      'hosts for `allow-list`, separated by commas: `api.example.com`, `*.example.com`, `10.0.0.5:8000`; ports ' +
      '80 and 443 unless said. A host or address of a private network is reached only if it is named here ' +
      'exactly',
  },
  {
    name: 'MILLWRIGHT_EGRESS_RANGES',
    byDefault: '',
    meaning: 'networks (CIDR, commas) by which runs and syncs reach others; told by `GET /networking/egress-ranges`',
  },
  {
    name: 'MILLWRIGHT_RUN_DISK_MB',
    byDefault: '10240',
    meaning: 'a run that takes more is ended, and a repository that takes more is not fetched; 0: no bound',
  },
  { name: 'MILLWRIGHT_RUN_MEMORY_MB', byDefault: '8192', meaning: 'a run that takes more is ended; 0: no bound' },
  {
    name: 'MILLWRIGHT_ALLOW_UNSANDBOXED',
    byDefault: 'false',
    meaning:
      'agents start also where nothing isolates them, and commands for deliveries where the network cannot be ' +
      'taken away',
  },
  {
    name: 'MILLWRIGHT_RUN_RESTARTABLE',
    byDefault: 'false',
    meaning: 'a command that had begun may be started again after a crash',
  },
  {
    name: 'MILLWRIGHT_QUEUE_MAX',
    byDefault: '10000',
    meaning: 'waiting runs a factory before its deliveries are answered 503',
  },
  {
    name: 'MILLWRIGHT_DISK_RESERVE_MB',
    byDefault: '256',
    meaning: 'free disk below which deliveries are answered 503, before anything breaks',
  },
  {
    name: 'MILLWRIGHT_WORKSPACE_RETENTION_DAYS',
    byDefault: '7',
    meaning: 'how long the folders of an ended run stay, for people and for follow-ups',
  },
  {
    name: 'MILLWRIGHT_EVENT_RETENTION_DAYS',
    byDefault: '90',
    meaning: 'how long events of ended runs are kept; 0: for ever',
  },
  {
    name: 'MILLWRIGHT_ARTIFACT_RETENTION_DAYS',
    byDefault: '90',
    meaning: 'how long what runs made and were given is kept; 0: for ever',
  },
  {
    name: 'MILLWRIGHT_HISTORY_RETENTION_DAYS',
    byDefault: '90',
    meaning: 'how long the passes and events of factories are kept; 0: for ever',
  },
  {
    name: 'MILLWRIGHT_AUDIT_RETENTION_DAYS',
    byDefault: '400',
    meaning: 'how long the audit trail is kept; 0: for ever',
  },
  {
    name: 'MILLWRIGHT_IDENTITY_RETENTION_DAYS',
    byDefault: 'for ever',
    meaning: 'how long accepted identities are remembered',
  },
] as const satisfies readonly Variable[];

/** Read by the built-in agent, which says itself what is wrong with them. */
export const AGENT_VARIABLES = [
  {
    name: 'MILLWRIGHT_AGENT_PROVIDER',
    byDefault: 'demo',
    meaning: "`openai-compatible` or `anthropic`: how the built-in agent's model is spoken to",
  },
  { name: 'MILLWRIGHT_AGENT_BASE_URL', byDefault: '', meaning: 'where the model is' },
  { name: 'MILLWRIGHT_AGENT_MODEL', byDefault: '', meaning: 'its name' },
  {
    name: 'MILLWRIGHT_AGENT_API_KEY',
    byDefault: '',
    meaning: "its key, given to the agent's process only and kept out of every event",
  },
  { name: 'MILLWRIGHT_AGENT_REASONING', byDefault: 'none', meaning: '`low`, `medium`, `high`' },
  { name: 'MILLWRIGHT_AGENT_STEPS_MAX', byDefault: '200', meaning: 'steps of one turn' },
  {
    name: 'MILLWRIGHT_AGENT_DEMO_STEPS',
    byDefault: 'false',
    meaning: 'lets prompts tell the demo model what to do, in a fenced block `demo`: for tests',
  },
  { name: 'MILLWRIGHT_AGENT_CONTEXT_TOKENS', byDefault: '128000', meaning: "size of the model's context" },
  { name: 'MILLWRIGHT_AGENT_OUTPUT_TOKENS_MAX', byDefault: 'none', meaning: 'tokens of one answer' },
  { name: 'MILLWRIGHT_AGENT_RETRIES_MAX', byDefault: '4', meaning: 'further attempts when the model fails' },
  {
    name: 'MILLWRIGHT_AGENT_SILENCE_SECONDS',
    byDefault: '300',
    meaning: 'silence of the model that counts as hanging',
  },
  {
    name: 'MILLWRIGHT_AGENT_PRICE_INPUT',
    byDefault: 'none',
    meaning: 'money per million tokens, for the cost of runs and for bounds in money',
  },
  { name: 'MILLWRIGHT_AGENT_PRICE_OUTPUT', byDefault: 'none', meaning: 'the same for tokens that the model writes' },
  { name: 'MILLWRIGHT_AGENT_PRICE_CACHED_INPUT', byDefault: 'none', meaning: 'the same for tokens that it has cached' },
  { name: 'MILLWRIGHT_AGENT_PRICE_CURRENCY', byDefault: 'USD', meaning: 'currency of the prices' },
] as const satisfies readonly Variable[];

/** Every variable there is. */
export const VARIABLES: readonly Variable[] = [
  ...SERVICE_VARIABLES,
  ...TRACE_VARIABLES,
  ...AGENT_VARIABLES,
  ...CLIENT_VARIABLES,
];

export const KNOWN_VARIABLES: ReadonlySet<string> = new Set(VARIABLES.map(({ name }) => name));
