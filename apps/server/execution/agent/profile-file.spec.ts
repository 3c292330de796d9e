/**
 * The operator's file of agents: what it may say, what start refuses, and that no refusal repeats a value. contract §1.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentialProblem, LAUNCH_PROFILES, modelHostsOf, type LaunchProfile } from '#agents';
import { ConfigError } from '../../config/config.ts';
import { readProfiles } from './profile-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-profiles-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const KEY = 'sk-a-key-that-nobody-may-read';

async function written(content: unknown, name = 'profiles.json'): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function profile(id: string, content: unknown): Promise<LaunchProfile> {
  const found = (await readProfiles(await written(content))).find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`no profile ${id}`);
  return found;
}

async function faultsOf(content: unknown): Promise<string[]> {
  return readProfiles(await written(content)).then(
    () => [],
    (error: unknown) =>
      error instanceof ConfigError
        ? error.faults.map(({ variable, rule }) => `${variable}: ${rule}`)
        : Promise.reject(error),
  );
}

it('is not needed: without it there are the built-in agents', async () => {
  expect(await readProfiles(undefined)).toBe(LAUNCH_PROFILES);
});

it('adds agents and changes built-in ones, in YAML as in JSON; a key comes from a file beside it', async () => {
  await writeFile(join(folder, 'key'), `${KEY}\n`);
  const file = await written(
    [
      'profiles:',
      '  - id: opencode',
      '    env: {OPENAI_BASE_URL: "https://models.example.com:8443/v1"}',
      '    envFiles: {OPENAI_API_KEY: key}',
      '  - id: house',
      '    command: [/opt/house/agent, --acp]',
      '    modelVia: {flag: --model}',
      '    credentials: []',
      '    auth: house-key',
      '    endpoints: ["*.example.com", "10.0.0.5:8000"]',
    ].join('\n'),
    'profiles.yaml',
  );
  const profiles = await readProfiles(file);
  const [opencode, house] = ['opencode', 'house'].map(
    (id) => profiles.find((candidate) => candidate.id === id) as LaunchProfile,
  ) as [LaunchProfile, LaunchProfile];
  const builtIn = LAUNCH_PROFILES.find(({ id }) => id === 'opencode');
  expect(opencode).toMatchObject({
    command: builtIn?.command,
    install: builtIn?.install,
    secretEnv: { OPENAI_API_KEY: KEY },
    env: { ...builtIn?.env, OPENAI_BASE_URL: 'https://models.example.com:8443/v1' },
  });
  expect(modelHostsOf(opencode)).toEqual([
    { host: { kind: 'name', name: 'models.example.com' }, subdomains: false, ports: [8443] },
  ]);
  expect(credentialProblem(opencode, {})).toBeUndefined();
  expect(house).toMatchObject({
    command: ['/opt/house/agent', '--acp'],
    modelVia: { kind: 'flag', flag: '--model' },
    resume: 'none',
    concurrentPrompt: false,
    systemPromptVia: 'prefix',
    auth: 'house-key',
  });
  expect(modelHostsOf(house)).toHaveLength(2);
  expect(profiles.map(({ id }) => id).sort()).toEqual([...LAUNCH_PROFILES.map(({ id }) => id), 'house'].sort());
});

it('keeps what is named as a credential out of the plain variables', async () => {
  const changed = await profile('codex', {
    profiles: [{ id: 'codex', env: { OPENAI_API_KEY: KEY, NO_BROWSER: '0' } }],
  });
  expect(changed.secretEnv).toEqual({ OPENAI_API_KEY: KEY });
  expect(JSON.stringify(changed.env)).not.toContain(KEY);
  expect(changed.env).toMatchObject({ NO_BROWSER: '0' });
});

it('lets an agent do without credentials that says so', async () => {
  const changed = await profile('opencode', {
    profiles: [
      { id: 'opencode', credentials: [], env: { OPENAI_BASE_URL: 'http://127.0.0.1:9000/v1', OPENAI_API_KEY: 'none' } },
    ],
  });
  expect(credentialProblem(changed, {})).toBeUndefined();
  expect(changed.secretEnv).toEqual({});
});

it('is refused with every fault at once, each by its place, none with a value', async () => {
  const faults = await faultsOf({
    profiles: [
      {
        id: 'a',
        command: ['agent'],
        modelVia: 'option',
        envFiles: { API_KEY: 'no-such-file' },
        env: { PATH: KEY, LD_PRELOAD: KEY, MILLWRIGHT_RUN_ID: KEY },
      },
      { id: 'a', env: { TOKEN: 'short' }, credentials: ['TOKEN'] },
      { id: 'builtin', command: ['x'], modelVia: 'option', endpoints: ['https://not-a-host/'] },
      { id: 'codex', env: { X: KEY }, envFiles: { X: 'key' } },
      {
        id: 'claude',
        prices: [
          { models: 'a', input: 1, output: 2 },
          { models: 'b', input: 1, output: 2, currency: 'EUR' },
        ],
      },
    ],
  });
  expect(faults.sort()).toEqual(
    [
      'profiles[0] (a): PATH: this variable is set by the service for each run',
      'profiles[0] (a): LD_PRELOAD: this variable is set by the service for each run',
      'profiles[0] (a): MILLWRIGHT_RUN_ID: this variable is set by the service for each run',
      'profiles[0] (a): envFiles.API_KEY: the file cannot be read (ENOENT)',
      'profiles[1] (a): there is another profile with this id; give each one of its own',
      'profiles[1] (a): command: an agent that is not built in needs its program and arguments',
      'profiles[1] (a): modelVia: an agent that is not built in needs one: option, {flag: …} or {env: …}',
      'profiles[1] (a): TOKEN: a credential must have 8 characters to 16 KiB, or it could not be kept out of ' +
        'logs; for an endpoint that needs none set credentials: []',
      'profiles[2] (builtin): id: the harness of this name is the service’s own; choose another',
      'profiles[2] (builtin): endpoints[0]: must be a host name, *. and a name, or an address, with :port if needed',
      'profiles[3] (codex): X: stands in env and in envFiles; keep one',
      'profiles[4] (claude): prices: entries in several currencies cannot be added up; keep one',
    ]
      .map((rule) => `MILLWRIGHT_AGENT_PROFILES_FILE: ${rule}`)
      .sort(),
  );
});

it('is refused by its form, without what stands in it', async () => {
  const faults = await faultsOf({
    profiles: [
      {
        id: 'A b',
        comand: [KEY],
        resume: KEY,
        modelVia: KEY,
        env: { 'NOT-A-NAME': KEY, N: 1 },
        readOnly: ['relative'],
      },
    ],
  });
  expect(faults.join('\n')).not.toContain(KEY);
  for (const place of [
    '/profiles/0/id',
    'comand',
    '/profiles/0/resume: must be one of resume, load, none',
    '/profiles/0/modelVia',
    'NOT-A-NAME',
    '/profiles/0/env/N',
    '/profiles/0/readOnly/0',
  ])
    expect(faults.join('\n')).toContain(place);
});

it.each([
  { text: 'profiles: [', found: /line 1: this is no YAML or JSON/, why: 'it breaks off' },
  { text: '[]', found: /must be a mapping/, why: 'its root is a list' },
  { text: '{}', found: /profiles/, why: 'it has no profiles' },
  {
    text: `profiles: ${'&a ['.repeat(3)}${']'.repeat(3)}\nx: *b`,
    found: /YAML|unknown|resolved|alias/i,
    why: 'an alias leads nowhere',
  },
])('is refused where $why', async ({ text, found }) => {
  expect((await faultsOf(text)).join('\n')).toMatch(found);
});

it('is refused where it cannot be read', async () => {
  await expect(readProfiles(join(folder, 'nowhere.json'))).rejects.toThrow(
    'MILLWRIGHT_AGENT_PROFILES_FILE: the file cannot be read (ENOENT)',
  );
  await expect(readProfiles(folder)).rejects.toThrow('not a file');
});

it('has prices with what is left out filled in', async () => {
  const changed = await profile('claude', {
    profiles: [{ id: 'claude', prices: [{ models: 'claude-*', input: 3, output: 15 }] }],
  });
  expect(changed?.prices).toEqual([{ models: 'claude-*', input: 3, cachedInput: 3, output: 15, currency: 'USD' }]);
});
