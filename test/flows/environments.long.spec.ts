/**
 * Environments of runs: repositories cloned, set-up commands run, credentials kept away, and what is said when that
 * fails. contract §8.1 (environments), §10.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { basicCredentials } from '../../apps/server/sync/sources/git/git-environment.ts';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'ghp-a-token-that-reads-private-repositories';
const API_TOKEN = 'a-value-for-the-set-up-and-the-run';
const SETUP_SECONDS = 12;
let git: GitServer;
let service: TestService;
/** Follows the private repository acme/factory with the token. */
let factoryUid: string;
/** Reads what is public. */
let strangerUid: string;
let app: TestRepository;

const environments: Record<string, string> = {
  build: `description: All of it.
dockerImage: ghcr.io/acme/build:1
repositories:
  - acme/app
  - { owner: acme, name: site, branch: next }
secrets: [{ name: API_TOKEN }]
setupCommands:
  - cp app/file.txt from-setup.txt; env > env.txt; cat /proc/*/cmdline | tr '\\0' ' ' > ps.txt;
    echo "the file says $(cat app/file.txt) and $API_TOKEN"
  - git -C site rev-parse --abbrev-ref HEAD > branch.txt
`,
  again: `repositories: [acme/app]
secrets: [{ name: API_TOKEN }]
setupCommands:
  - test ! -e left.txt && touch left.txt "$HOME/left" && git -C app log --oneline > log.txt
  - 'echo first words; echo "lost with $API_TOKEN" >&2; test -e app/flag.txt || exit 3'
  - touch third.txt
`,
  slow: `setupCommands: ['echo about to wait; setsid sleep 98761 & sleep 98762']\n`,
  brief: `setupCommands: ['sleep 4']\n`,
  fetching: `repositories: [acme/app]\n`,
  nothing: `repositories: [acme/nothing]\n`,
  branch: `repositories: [{ owner: acme, name: app, branch: nowhere }]\n`,
  local: `repositories: ['https://127.0.0.1:1/acme/app']\n`,
  public: `repositories: [acme/site]\n`,
  named: `repositories: [{ owner: acme, name: app, credentialSecret: forge-token }]\n`,
  elsewhere: `repositories: [{ url: 'https://elsewhere.example/acme/app', credentialSecret: forge-token }]\n`,
  ungranted: `repositories: [{ owner: acme, name: app, credentialSecret: hook-token }]\n`,
  overssh: `repositories: ['ssh://git@127.0.0.1/acme/app']\n`,
  taken: `repositories: [acme/artifacts]\n`,
};
const files = Object.fromEntries(
  Object.entries(environments).map(([name, text]) => [`environments/${name}.yaml`, text]),
);

beforeAll(async () => {
  git = await startGitServer();
  app = git.createRepository('acme/app');
  app.commit({ 'file.txt': 'content of the private repository' });
  git.createRepository('acme/site').commit({ 'index.html': 'main' });
  git.createRepository('acme/factory').commit(files);
  git.createRepository('other/factory').commit(files);
  execFileSync('git', ['-C', join(git.root, 'acme/site'), 'branch', 'next', 'main'], { stdio: 'pipe' });
  for (const name of ['acme/app', 'acme/factory']) git.tokens.set(name, TOKEN);
  // The run does what its prompt says.
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_RUN_COMMAND: JSON.stringify(['/bin/sh', '-c', 'sh prompt.md']),
      MILLWRIGHT_SETUP_TIMEOUT: String(SETUP_SECONDS),
      MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
    },
  });
  await service.api('PUT', '/secrets/forge-token', { value: TOKEN, grants: { factories: '*', uses: ['git'] } });
  await service.api('PUT', '/secrets/API_TOKEN', {
    value: API_TOKEN,
    grants: { factories: '*', uses: ['run'], runs: '*' },
  });
  await service.secret('hook-token', 'a-token-for-webhooks');
  factoryUid = await service.factory('acme', {
    kind: 'git',
    url: git.urlOf('acme/factory'),
    branch: 'main',
    credentialSecret: 'forge-token',
  });
  strangerUid = await service.factory('stranger', { kind: 'git', url: git.urlOf('other/factory'), branch: 'main' });
}, 120_000);
afterAll(async () => {
  await service.stop();
  await git.close();
});
afterEach(() => {
  git.fault = undefined;
});

interface Run {
  run_id: string;
  state: string;
  status_message?: { message: string; error_code?: string };
}

async function started(
  environmentId: string,
  prompt = 'true',
  { factory = factoryUid, config = {} }: { factory?: string | null; config?: object } = {},
): Promise<string> {
  const { body } = await service.api('POST', '/agent/runs', {
    prompt,
    factory_uid: factory ?? undefined,
    config: { environment_id: environmentId, ...config },
  });
  return String(body['run_id']);
}
const runOf = async (runId: string): Promise<Run> =>
  (await service.api('GET', `/agent/runs/${runId}`)).body as unknown as Run;
const ended = (runId: string): Promise<Run> =>
  eventually(
    'the run has ended',
    async () => {
      const run = await runOf(runId);
      return ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'].includes(run.state) ? run : undefined;
    },
    120_000,
  );
const failing = async (...args: Parameters<typeof started>): Promise<string> => {
  const { state, status_message: status } = await ended(await started(...args));
  expect([state, status?.error_code]).toEqual(['FAILED', 'environment_setup_failed']);
  return status?.message ?? '';
};
const eventsOf = async (runId: string): Promise<string> =>
  JSON.stringify((await service.api('GET', `/agent/runs/${runId}/events?limit=1000`)).body);
const folderOf = (runId: string): string => join(service.dataDir, 'runs', runId);
const inWorkspace = (runId: string, name: string): string =>
  readFileSync(join(folderOf(runId), 'workspace', name), 'utf8');
/** Command lines of all processes of this machine. */
const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    });
/** Files below a folder that hold a text, in their bytes. */
const holding = (folder: string, text: string): string[] => {
  try {
    return execFileSync('grep', ['-rlaF', '--', text, folder], { encoding: 'utf8' }).trim().split('\n');
  } catch {
    return [];
  }
};

describe('a run with an environment', () => {
  it(
    'finds its repositories and what its set-up made; the credential is nowhere, and a follow-up goes on with the ' +
      'same workspace',
    async () => {
      git.fault = { kind: 'slow', delayMs: 700, only: 'fetch' };
      const prompt =
        'cat app/file.txt from-setup.txt branch.txt; git -C app remote get-url origin; git -C app status --short; ' +
        'find app/.git -type f -links +1; cat app/.git/objects/info/alternates; echo done > made.txt';
      const runId = await started('build', prompt);
      const seen = await eventually(
        'a fetch is under way',
        () => {
          const lines = commandLines();
          return lines.some((line) => line.includes('fetch') && line.includes('acme/app')) ? lines : undefined;
        },
        120_000,
      );
      expect(seen.filter((line) => line.includes(TOKEN) || line.includes(basicCredentials(TOKEN)))).toEqual([]);
      expect(await ended(runId)).toMatchObject({ state: 'SUCCEEDED' });

      const events = await eventsOf(runId);
      for (const said of [
        'content of the private repository',
        `${git.url}/acme/app`,
        'ghcr.io/acme/build:1 is recorded',
        'set-up command 2 of 2',
        'the file says content of the private repository and [redacted]',
      ])
        expect(events).toContain(said);
      expect(inWorkspace(runId, 'branch.txt').trim()).toBe('next');
      expect(inWorkspace(runId, 'app/.git/config')).toContain(`url = ${git.url}/acme/app\n`);
      expect(existsSync(join(folderOf(runId), 'workspace/app/.git/objects/info/alternates'))).toBe(false);
      expect(inWorkspace(runId, 'env.txt')).toContain(`API_TOKEN=${API_TOKEN}`);
      for (const secret of [TOKEN, basicCredentials(TOKEN), Buffer.from(TOKEN).toString('base64')]) {
        expect(holding(folderOf(runId), secret)).toEqual([]);
        expect(holding(join(service.dataDir, 'repositories'), secret)).toEqual([]);
        expect(events).not.toContain(secret);
        expect(service.logged.join('')).not.toContain(secret);
      }
      expect(inWorkspace(runId, 'ps.txt')).not.toContain('git fetch');

      // Nothing of it is needed any more.
      rmSync(join(service.dataDir, 'repositories'), { recursive: true });
      git.forget();
      await service.api('POST', `/agent/runs/${runId}/followups`, {
        message: 'cat made.txt; git -C app fsck && git -C app log --format=%s',
      });
      await eventually('the follow-up has been answered', async () =>
        (await eventsOf(runId)).split('"SUCCEEDED"').length === 3 ? true : undefined,
      );
      expect(git.requests.filter(({ path }) => path.includes('acme/app'))).toEqual([]);
      expect((await eventsOf(runId)).split('set-up command 1 of 2').length).toBe(2);
    },
    120_000,
  );

  it('is what an agent works in', async () => {
    const steps = [{ tool: 'bash', input: { command: 'cat app/file.txt' } }, { say: 'read it' }];
    const runId = await started('fetching', `Read it.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`, {
      config: { harness: { type: 'builtin' } },
    });
    expect(await ended(runId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await eventsOf(runId)).toContain('content of the private repository');
  }, 120_000);

  it('fails with the last words of its set-up, and is set up from the beginning the next time', async () => {
    const runId = await started('again', 'cat log.txt');
    const { state, status_message: status } = await ended(runId);
    expect([state, status?.error_code]).toEqual(['FAILED', 'environment_setup_failed']);
    expect(status?.message).toMatch(
      /^set-up command 2 of 3 \(echo first words; .*\) ended with exit code 3:\nfirst words\nlost with \[redacted\]$/,
    );
    expect(existsSync(join(folderOf(runId), 'workspace/third.txt'))).toBe(false);
    app.commit({ 'flag.txt': 'it may go on' });
    await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'true' });
    await eventually(
      'it has succeeded',
      async () => ((await runOf(runId)).state === 'SUCCEEDED' ? true : undefined),
      60_000,
    );
    expect(inWorkspace(runId, 'log.txt').trim().split('\n')).toHaveLength(2);
    expect(existsSync(join(folderOf(runId), 'workspace/third.txt'))).toBe(true);
  }, 120_000);

  it('fails when its set-up takes too long, with what it said', async () => {
    expect(await failing('slow')).toMatch(
      new RegExp(`^set-up command 1 of 1 .* did not end within ${SETUP_SECONDS} s .*:\nabout to wait`),
    );
    expect(commandLines().filter((line) => /sleep 9876[12]/.test(line))).toEqual([]);
  }, 120_000);

  it('has one time for set-up and work together, and ends when that is over wherever it is', async () => {
    const hasty = await bootService({
      environment: {
        MILLWRIGHT_GIT_CA_FILE: git.caFile,
        MILLWRIGHT_RUN_COMMAND: JSON.stringify(['/bin/sh', '-c', 'sh prompt.md']),
        MILLWRIGHT_RUN_TIMEOUT: '7',
        MILLWRIGHT_SETUP_TIMEOUT: '60',
      },
    });
    await hasty.api('PUT', '/secrets/forge-token', { value: TOKEN, grants: { factories: '*', uses: ['git'] } });
    await hasty.api('PUT', '/secrets/API_TOKEN', {
      value: API_TOKEN,
      grants: { factories: '*', uses: ['run'], runs: '*' },
    });
    await hasty.secret('hook-token', 'a-token-for-webhooks');
    const uid = await hasty.factory('acme', {
      kind: 'git',
      url: git.urlOf('acme/factory'),
      branch: 'main',
      credentialSecret: 'forge-token',
    });
    git.fault = { kind: 'hang', only: 'fetch' };
    const ends = await Promise.all(
      ['slow', 'fetching', 'brief'].map(async (environmentId) => {
        const { body } = await hasty.api('POST', '/agent/runs', {
          prompt: 'echo work has begun; sleep 98763',
          factory_uid: uid,
          config: { environment_id: environmentId },
        });
        const runId = String(body['run_id']);
        const run = await eventually(
          'it has ended',
          async () => {
            const found = (await hasty.api('GET', `/agent/runs/${runId}`)).body;
            return ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'].includes(String(found['state'])) ? found : undefined;
          },
          120_000,
        );
        return {
          run,
          hasBegun: JSON.stringify((await hasty.api('GET', `/agent/runs/${runId}/events?limit=1000`)).body).includes(
            'work has begun\\n',
          ),
        };
      }),
    );
    await hasty.stop();
    const message = 'it did not end within 7 s, which is all the time that runs have here (MILLWRIGHT_RUN_TIMEOUT)';
    for (const { run } of ends) expect(run).toMatchObject({ state: 'FAILED', status_message: { message } });
    expect(ends.map(({ hasBegun }) => hasBegun)).toEqual([false, false, true]);
    expect(commandLines().filter((line) => /sleep 9876/.test(line))).toEqual([]);
  }, 120_000);

  it('can be cancelled in its set-up, and while its repositories are fetched: nothing is left running', async () => {
    const runId = await started('slow');
    await eventually('it waits', async () => ((await eventsOf(runId)).includes('about to wait') ? true : undefined));
    await service.api('POST', `/agent/runs/${runId}/cancel`);
    expect(await ended(runId)).toMatchObject({
      state: 'CANCELLED',
      status_message: { message: 'cancelled on request' },
    });
    expect(commandLines().filter((line) => /sleep 9876[12]/.test(line))).toEqual([]);

    app.commit({ 'new.txt': 'something to fetch' });
    git.fault = { kind: 'hang', only: 'fetch' };
    const hanging = await started('fetching');
    const isFetching = (): boolean =>
      commandLines().some((line) => line.includes('fetch') && line.includes(`${git.url}/acme/app`));
    await eventually('it fetches', async () =>
      (await eventsOf(hanging)).includes('fetching the repository') && isFetching() ? true : undefined,
    );
    await service.api('POST', `/agent/runs/${hanging}/cancel`);
    expect(await ended(hanging)).toMatchObject({ state: 'CANCELLED' });
    await eventually('no git is left', () => (isFetching() ? undefined : true));
    git.fault = undefined;
    expect(await ended(await started('fetching'))).toMatchObject({ state: 'SUCCEEDED' });
  }, 120_000);
});

describe('what cannot be had', () => {
  it('is not another factory’s: its copy of a private repository and its credential', async () => {
    expect(await ended(await started('fetching'))).toMatchObject({ state: 'SUCCEEDED' }); // there is a copy now
    const message = await failing('fetching', 'cat app/file.txt', { factory: strangerUid });
    expect(message).toContain(`${git.url}/acme/app`);
    expect(message).toContain('credentialSecret');
    expect(await ended(await started('public', 'cat site/index.html', { factory: strangerUid }))).toMatchObject({
      state: 'SUCCEEDED',
    });
    expect(await ended(await started('named', 'cat app/file.txt', { factory: strangerUid }))).toMatchObject({
      state: 'SUCCEEDED',
    });
  }, 120_000);

  it.each([
    { environment: 'nothing', says: ['acme/nothing'], why: 'no such repository' },
    { environment: 'branch', says: ['has no branch "nowhere"'], why: 'no such branch' },
    {
      environment: 'local',
      says: ['no public address', 'MILLWRIGHT_RUN_ALLOW_HOSTS'],
      why: 'a place inside that nobody named',
    },
    {
      environment: 'elsewhere',
      says: ['forge-token is not sent to elsewhere.example'],
      why: 'a credential for somebody else',
    },
    {
      environment: 'ungranted',
      says: ['hook-token', 'granted to this factory for git'],
      why: 'a secret that is not for git',
    },
    { environment: 'overssh', says: ['MILLWRIGHT_GIT_KNOWN_HOSTS_FILE'], why: 'a host whose key nobody knows' },
    { environment: 'taken', says: ['"artifacts"'], why: 'a folder of the run itself' },
    {
      environment: 'buidl',
      says: ['no environment "buidl"', 'again, branch, brief, build'],
      why: 'a name that is not declared',
    },
  ])(
    'fails with what to do: $why',
    async ({ environment, says }) => {
      const message = await failing(environment);
      for (const said of says) expect(message).toContain(said);
      expect(message).not.toContain(TOKEN);
    },
    120_000,
  );

  it('is an environment without a factory', async () => {
    expect(await failing('build', 'true', { factory: null })).toContain('factory_uid');
  }, 120_000);

  it('comes back when the host does', async () => {
    git.fault = { kind: 'refuse' };
    expect(await failing('fetching')).toMatch(/cannot be read: .*acme\/app/);
    git.fault = undefined;
    expect(await ended(await started('fetching'))).toMatchObject({ state: 'SUCCEEDED' });
  }, 120_000);
});
