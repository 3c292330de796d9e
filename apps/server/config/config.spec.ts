/** The environment: each variable good and bad, all faults at once, and never a value in a message. contract §1. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { ConfigError, isLoopback, readConfig, ROLES, type Config, type ConfigFault } from './config.ts';

function faultsOf(environment: Record<string, string | undefined>): readonly ConfigFault[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const KEY = `mw_${'a'.repeat(43)}`;

describe('runs of one factory in a process', () => {
  it.each([
    { environment: {}, here: 3, all: undefined, why: 'one of four places is left to others' },
    { environment: { MILLWRIGHT_RUN_CONCURRENCY: '10' }, here: 9, all: undefined, why: 'of however many' },
    { environment: { MILLWRIGHT_RUN_CONCURRENCY: '1' }, here: undefined, all: undefined, why: 'one cannot be shared' },
    {
      environment: { MILLWRIGHT_RUNS_PER_FACTORY: '0' },
      here: undefined,
      all: undefined,
      why: 'the operator wants none',
    },
    { environment: { MILLWRIGHT_RUNS_PER_FACTORY: '2' }, here: undefined, all: 2, why: 'the operator has set one' },
  ])('are at most $here of its own and $all at all: $why', ({ environment, here, all }) => {
    expect(readConfig(environment)).toMatchObject({ runsPerFactoryHereMax: here, runsPerFactoryMax: all });
  });
});

describe('an empty environment', () => {
  it('is a configuration', () => {
    expect(readConfig({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      publicUrl: 'http://127.0.0.1:8080',
      ingressUrl: 'http://127.0.0.1:8080',
      isPublicUrlGiven: false,
      isIngressUrlGiven: false,
      dataDir: resolve('.millwright'),
      databaseUrl: undefined,
      databaseDirectUrl: undefined,
      roles: new Set(ROLES),
      engine: 'embedded',
      redisUrl: undefined,
      workerHost: hostname(),
      workerEnvironments: [],
      eventRetentionDays: 90,
      artifactRetentionDays: 90,
      historyRetentionDays: 90,
      auditRetentionDays: 400,
      adminKey: undefined,
      masterKeyFile: undefined,
      uidKeyFile: undefined,
      syncIntervalMs: 60_000,
      allowLocalSources: false,
      trustedProxies: [],
      egressRanges: [],
      apiRequestsPerMinute: 6_000,
      apiFailuresPerMinute: 60,
      sessionMs: 12 * 3_600_000,
      logLevel: 'info',
      tls: undefined,
      gitCaFile: undefined,
      gitKnownHostsFile: undefined,
      searchPath: undefined,
      runCommand: undefined,
      runConcurrency: 4,
      runsPerFactoryMax: undefined,
      runsPerFactoryHereMax: 3,
      runsPerAutomationMax: undefined,
      runTimeoutMs: 3_600_000,
      runTokensMax: undefined,
      runCostMax: undefined,
      setupTimeoutMs: 600_000,
      drainMs: 5_000,
      agentProfilesFile: undefined,
      forgeUrl: undefined,
      runNetwork: { kind: 'allow-list', hosts: [] },
      runDiskBytesMax: 10_240 * 1_048_576,
      runMemoryBytesMax: 8_192 * 1_048_576,
      allowUnsandboxed: false,
      runRestartable: false,
      agentEnvironment: {},
      models: [],
      oidcPrivateHosts: [],
      waitingRunsMax: 10_000,
      diskReserveBytes: 256 * 1_048_576,
      identityRetentionDays: undefined,
      workspaceRetentionDays: 7,
    });
  });

  it('is the same as one of empty variables, and as one of other programs’ variables', () => {
    expect(
      readConfig({
        MILLWRIGHT_PORT: '',
        MILLWRIGHT_PUBLIC_URL: '',
        MILLWRIGHT_RUN_COMMAND: '',
        HOME: '/root',
        MILL: 'x',
      }),
    ).toEqual(readConfig({}));
    // Read by the command line and the client libraries.
    expect(
      readConfig({ MILLWRIGHT_SERVER: 'x', MILLWRIGHT_API_KEY: 'x', MILLWRIGHT_BASE_URL: 'x', MILLWRIGHT_LOG: 'x' }),
    ).toEqual(readConfig({}));
  });

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });
});

describe('good values', () => {
  const cases: { set: Record<string, string>; read: Partial<Config>; why: string }[] = [
    { set: { MILLWRIGHT_PORT: '0' }, read: { port: 0 }, why: 'any free port' },
    {
      set: { MILLWRIGHT_PORT: '65535' },
      read: { port: 65_535, publicUrl: 'http://127.0.0.1:65535' },
      why: 'the public URL follows the port',
    },
    {
      set: { MILLWRIGHT_METRICS_LISTEN: '9464' },
      read: { metricsListen: { host: '127.0.0.1', port: 9464 } },
      why: 'a port of this machine',
    },
    {
      set: { MILLWRIGHT_METRICS_LISTEN: '[::1]:9464' },
      read: { metricsListen: { host: '::1', port: 9464 } },
      why: 'an address and a port',
    },
    { set: { MILLWRIGHT_HOST: '::1' }, read: { host: '::1', publicUrl: 'http://[::1]:8080' }, why: 'an IPv6 host' },
    {
      set: { MILLWRIGHT_PUBLIC_URL: 'https://x.example/base/' },
      read: { publicUrl: 'https://x.example/base', ingressUrl: 'https://x.example/base' },
      why: 'no trailing slash, the ingress follows',
    },
    {
      set: { MILLWRIGHT_PUBLIC_URL: 'http://localhost:9' },
      read: { publicUrl: 'http://localhost:9' },
      why: 'loopback needs no TLS',
    },
    {
      set: { MILLWRIGHT_INGRESS_URL: 'https://in.example' },
      read: { ingressUrl: 'https://in.example', publicUrl: 'http://127.0.0.1:8080' },
      why: 'an ingress of its own',
    },
    {
      set: { MILLWRIGHT_PUBLIC_URL: 'http://x.example', MILLWRIGHT_ALLOW_HTTP: 'true' },
      read: { publicUrl: 'http://x.example' },
      why: 'plain http where it is allowed',
    },
    { set: { MILLWRIGHT_DATA_DIR: '/srv/mw' }, read: { dataDir: '/srv/mw' }, why: 'an absolute folder' },
    { set: { MILLWRIGHT_DATA_DIR: 'here' }, read: { dataDir: resolve('here') }, why: 'a relative folder' },
    {
      set: { MILLWRIGHT_DATABASE_URL: 'postgres://u:p@h/d' },
      read: { databaseUrl: 'postgres://u:p@h/d' },
      why: 'PostgreSQL',
    },
    {
      set: { MILLWRIGHT_DATABASE_URL: 'postgresql://h/d' },
      read: { databaseUrl: 'postgresql://h/d' },
      why: 'its other name',
    },
    { set: { MILLWRIGHT_ADMIN_KEY: KEY }, read: { adminKey: KEY }, why: 'the shortest key' },
    {
      set: { MILLWRIGHT_MASTER_KEY_FILE: '/k', MILLWRIGHT_UID_KEY_FILE: '/u' },
      read: { masterKeyFile: '/k', uidKeyFile: '/u' },
      why: 'key files',
    },
    { set: { MILLWRIGHT_SYNC_INTERVAL: '1' }, read: { syncIntervalMs: 1_000 }, why: 'seconds' },
    {
      set: { MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'true', MILLWRIGHT_RUN_RESTARTABLE: 'true' },
      read: { allowLocalSources: true, runRestartable: true },
      why: 'flags',
    },
    {
      set: { MILLWRIGHT_EGRESS_RANGES: '203.0.113.77/24, 203.0.113.0/24,2001:DB8::/32 198.51.100.7' },
      read: { egressRanges: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7/32'] },
      why: 'networks, each once and in one form',
    },
    { set: { MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'false' }, read: { allowLocalSources: false }, why: 'a flag that is off' },
    {
      set: { MILLWRIGHT_TLS_CERT_FILE: '/c', MILLWRIGHT_TLS_KEY_FILE: '/k' },
      read: { tls: { certFile: '/c', keyFile: '/k' }, publicUrl: 'https://127.0.0.1:8080' },
      why: 'TLS',
    },
    {
      set: { MILLWRIGHT_GIT_CA_FILE: '/ca', MILLWRIGHT_GIT_KNOWN_HOSTS_FILE: '/kh', PATH: '/bin' },
      read: { gitCaFile: '/ca', gitKnownHostsFile: '/kh', searchPath: '/bin' },
      why: 'files and PATH',
    },
    {
      set: { MILLWRIGHT_RUN_COMMAND: '["sh", "-c", "true"]' },
      read: { runCommand: ['sh', '-c', 'true'] },
      why: 'words',
    },
    { set: { MILLWRIGHT_RUN_CONCURRENCY: '0' }, read: { runConcurrency: 0 }, why: 'none here' },
    { set: { MILLWRIGHT_RUN_TIMEOUT: '10' }, read: { runTimeoutMs: 10_000 }, why: 'seconds' },
    {
      set: { MILLWRIGHT_AGENT_MODEL: 'm', MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:1/v1' },
      read: { agentEnvironment: { MILLWRIGHT_AGENT_MODEL: 'm', MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:1/v1' } },
      why: 'the agent reads its own',
    },
    {
      set: { MILLWRIGHT_MODELS: ' large , small/v2,,large' },
      read: { models: ['large', 'small/v2'] },
      why: 'each once, in order',
    },
    {
      set: { MILLWRIGHT_RUN_NETWORK: 'host' },
      read: { runNetwork: { kind: 'host', hosts: [] } },
      why: 'the machine’s network',
    },
    {
      set: { MILLWRIGHT_RUN_ALLOW_HOSTS: '*.Example.com, 127.0.0.1:11434' },
      read: {
        runNetwork: {
          kind: 'allow-list',
          hosts: [
            { host: { kind: 'name', name: 'example.com' }, subdomains: true, ports: [80, 443] },
            { host: { kind: 'address', address: '127.0.0.1' }, subdomains: false, ports: [11_434] },
          ],
        },
      },
      why: 'hosts by name and address',
    },
    {
      set: { MILLWRIGHT_RUN_DISK_MB: '0', MILLWRIGHT_RUN_MEMORY_MB: '0', MILLWRIGHT_ALLOW_UNSANDBOXED: 'true' },
      read: { runDiskBytesMax: undefined, runMemoryBytesMax: undefined, allowUnsandboxed: true },
      why: 'no bounds and no walls',
    },
    {
      set: { MILLWRIGHT_QUEUE_MAX: '5', MILLWRIGHT_DISK_RESERVE_MB: '0' },
      read: { waitingRunsMax: 5, diskReserveBytes: 0 },
      why: 'bounds',
    },
    {
      set: { MILLWRIGHT_API_RATE: '0', MILLWRIGHT_API_AUTH_FAILURES: '5' },
      read: { apiRequestsPerMinute: 0, apiFailuresPerMinute: 5 },
      why: 'rates',
    },
    { set: { MILLWRIGHT_LOG_LEVEL: 'error' }, read: { logLevel: 'error' }, why: 'a quiet log' },
    { set: { MILLWRIGHT_IDENTITY_RETENTION_DAYS: '30' }, read: { identityRetentionDays: 30 }, why: 'forgetting' },
    { set: { MILLWRIGHT_SERVER: 'https://x', MILLWRIGHT_API_KEY: 'k' }, read: {}, why: 'the command line’s own' },
  ];
  it.each(cases)('$why', ({ set, read }) => {
    expect(readConfig(set)).toMatchObject(read);
  });

  it('names trusted proxies by address and range', () => {
    expect(readConfig({ MILLWRIGHT_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,fd00::/8' }).trustedProxies).toHaveLength(3);
  });
});

describe('bad values', () => {
  const cases: { variable: string; values: string[] }[] = [
    { variable: 'MILLWRIGHT_PORT', values: ['65536', '-1', '80.5', '0x50', ' 80', '8080 ', 'http', '1e3'] },
    {
      variable: 'MILLWRIGHT_HOST',
      values: ['exa mple', 'a/b', 'h:80', '[::1]', 'http://h', '999.1.1.1', 'fe80::1%eth0', 'mill$wright'],
    },
    {
      variable: 'MILLWRIGHT_METRICS_LISTEN',
      values: [
        'on',
        '0',
        '65536',
        'h:',
        ':9464',
        'a b:1',
        '::1:9464',
        '[h]:9464',
        'http://h:1',
        '127.0.0.1:9464/metrics',
      ],
    },
    {
      variable: 'MILLWRIGHT_PUBLIC_URL',
      values: [
        'x.example',
        'ftp://x.example',
        'http://x.example',
        'https://user:pass@x.example',
        'https://x.example?q',
        'https://x.example#f',
        'http://127.0.0.1.example',
        'http://0.0.0.0:8080',
      ],
    },
    { variable: 'MILLWRIGHT_INGRESS_URL', values: ['in.example', 'http://in.example', 'https://user@in.example'] },
    {
      variable: 'MILLWRIGHT_DATABASE_URL',
      values: [
        'mysql://h/d',
        'millwright.sqlite',
        'h:5432',
        'postgres://h/d?port=hidden',
        'postgres://h/d?port=65536',
        'postgres://h/d?port=5432&port=',
      ],
    },
    {
      variable: 'MILLWRIGHT_ADMIN_KEY',
      values: ['mw_short', 'a'.repeat(60), `mw_${'a'.repeat(42)}`, `mw_${'a'.repeat(42)}+`, `${KEY} `],
    },
    { variable: 'MILLWRIGHT_SYNC_INTERVAL', values: ['0', '86401', '1m', '0.5'] },
    { variable: 'MILLWRIGHT_ALLOW_LOCAL_SOURCES', values: ['yes', '1', 'TRUE'] },
    { variable: 'MILLWRIGHT_ALLOW_HTTP', values: ['on'] },
    { variable: 'MILLWRIGHT_RUN_RESTARTABLE', values: ['0', 'True'] },
    { variable: 'MILLWRIGHT_TRUSTED_PROXIES', values: ['10.0.0.0/33', 'proxy.example', '10.0.0.0/8;192.0.2.1'] },
    {
      variable: 'MILLWRIGHT_RUN_COMMAND',
      values: ['sh -c true', '[]', '["sh", 1]', '"sh"', '{"a":1}', 'null', '["a\\u0000b"]'],
    },
    { variable: 'MILLWRIGHT_RUN_CONCURRENCY', values: ['1001', 'many'] },
    { variable: 'MILLWRIGHT_RUN_TIMEOUT', values: ['0', '604801'] },
    { variable: 'MILLWRIGHT_MODELS', values: ['two words', 'a,b\u0001c', 'x'.repeat(201)] },
    { variable: 'MILLWRIGHT_RUN_NETWORK', values: ['bridge', 'HOST', 'allow'] },
    {
      variable: 'MILLWRIGHT_RUN_ALLOW_HOSTS',
      values: ['https://example.com', '10.0.0.0/8', 'a.example,*', 'example.com:0', 'a.example,,b..example'],
    },
    { variable: 'MILLWRIGHT_EGRESS_RANGES', values: ['example.com', '10.0.0.0/33', '192.0.2.1,,fd00::/129', '1.2.3'] },
    { variable: 'MILLWRIGHT_RUN_DISK_MB', values: ['-1', '1.5'] },
    { variable: 'MILLWRIGHT_RUN_MEMORY_MB', values: ['8G'] },
    { variable: 'MILLWRIGHT_ALLOW_UNSANDBOXED', values: ['yes'] },
    { variable: 'MILLWRIGHT_QUEUE_MAX', values: ['0', '10000001'] },
    { variable: 'MILLWRIGHT_IDENTITY_RETENTION_DAYS', values: ['7', '0', '36501'] },
    { variable: 'MILLWRIGHT_DISK_RESERVE_MB', values: ['-1', 'some'] },
    { variable: 'MILLWRIGHT_API_RATE', values: ['-1', '1000001', '60/min'] },
    { variable: 'MILLWRIGHT_API_AUTH_FAILURES', values: ['-1', '10001', 'few'] },
    { variable: 'MILLWRIGHT_LOG_LEVEL', values: ['INFO', 'debug', 'silent'] },
    { variable: 'MILLWRIGHT_ENGINE', values: ['redis', 'BullMQ'] },
    { variable: 'MILLWRIGHT_WORKER_HOST', values: ['two words', 'a/b', 'x'.repeat(256)] },
    { variable: 'MILLWRIGHT_ROLES', values: [',', ' , ,', 'every', 'api;ingress'] },
    { variable: 'MILLWRIGHT_PROT', values: ['8080'] },
    { variable: 'MILLWRIGHT_', values: ['x'] },
  ];
  const all = cases.flatMap(({ variable, values }) => values.map((value) => ({ variable, value })));

  it.each(all)('$variable=$value is refused by name and rule', ({ variable, value }) => {
    const faults = faultsOf({ [variable]: value });
    expect(faults).toEqual([{ variable, rule: expect.any(String) }]);
    // Short words of the rules themselves ("0", "many") say nothing.
    if (value.length > 5) expect(faults[0]?.rule).not.toContain(value);
  });

  it.each([
    { set: 'MILLWRIGHT_TLS_CERT_FILE', missing: 'MILLWRIGHT_TLS_KEY_FILE' },
    { set: 'MILLWRIGHT_TLS_KEY_FILE', missing: 'MILLWRIGHT_TLS_CERT_FILE' },
  ])('$set alone is refused', ({ set, missing }) => {
    expect(faultsOf({ [set]: '/file' })).toEqual([{ variable: missing, rule: 'must be set together with its twin' }]);
  });

  it('are all reported at once, one line each', () => {
    const environment = Object.fromEntries(cases.map(({ variable, values }) => [variable, values[0] as string]));
    expect(new Set(faultsOf(environment).map(({ variable }) => variable))).toEqual(
      new Set(cases.map(({ variable }) => variable)),
    );
    const { message } = new ConfigError(faultsOf(environment));
    expect(message.split('\n')).toHaveLength(cases.length);
  });

  it.each([
    'redis:hidden',
    'redis://u:hidden%zz@h',
    'redis://hid%den@h',
    'redis://h/hidden',
    'redis://h/1/hidden',
    'http://hidden',
  ])('MILLWRIGHT_REDIS_URL=%s is refused by name and rule', (url) => {
    const faults = faultsOf({
      MILLWRIGHT_DATABASE_URL: 'postgres://h/d',
      MILLWRIGHT_ENGINE: 'bullmq',
      MILLWRIGHT_REDIS_URL: url,
    });
    expect(faults).toEqual([{ variable: 'MILLWRIGHT_REDIS_URL', rule: expect.not.stringContaining('hidden') }]);
  });

  it.each([',', ' , '])(
    'MILLWRIGHT_WORKER_ENVIRONMENTS=%s is refused: names that came out empty are not meant to be all',
    (names) => {
      expect(faultsOf({ MILLWRIGHT_WORKER_ENVIRONMENTS: names })).toEqual([
        {
          variable: 'MILLWRIGHT_WORKER_ENVIRONMENTS',
          rule: 'must hold names or UIDs of environments, separated by commas (unset: all)',
        },
      ]);
    },
  );

  it.each(['redis://h', 'rediss://u:p%25p@h:6380/', 'redis://:p@[::1]:6379/15?family=6'])(
    'MILLWRIGHT_REDIS_URL=%s is taken',
    (url) => {
      expect(
        faultsOf({
          MILLWRIGHT_DATABASE_URL: 'postgres://h/d?port=5433',
          MILLWRIGHT_ENGINE: 'bullmq',
          MILLWRIGHT_REDIS_URL: url,
        }),
      ).toEqual([]);
    },
  );

  it('never show what was set', () => {
    const marker = 'value that nobody may see';
    for (const { variable } of cases) {
      for (const value of [`${marker}?`, `mysql://u:${marker}@h/d`, `https://u:${marker}@h`]) {
        const faults = faultsOf({ [variable]: value });
        expect(faults).not.toEqual([]);
        expect(new ConfigError(faults).stack).not.toContain(marker);
      }
    }
  });
});

describe('loopback', () => {
  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['[::]', false],
    ['127.0.0.1.example', false],
    ['localhost.example', false],
    ['10.0.0.1', false],
  ])('%s: %s', (host, loopback) => expect(isLoopback(host)).toBe(loopback));
});
