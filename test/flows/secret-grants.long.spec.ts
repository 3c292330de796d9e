/**
 * Secrets belong to definitions, and hosts to secrets: what an operator can have of a secret by starting runs, what a
 * file that is not its own can, and what a host has that a source or an environment is pointed at. contract §2.2.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeKey } from '../support/services/api-keys.ts';
import { deliver, runIn, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const VALUES = { DEPLOY_TOKEN: 'deploy-canary-4711-4711', BUILD_TOKEN: 'build-canary-0815-0815' };
const HOOK = 'a-token-of-sixteen-or-more';
const ENDED = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];
const REFUSED = /cannot be given to this run: .* a file of the factory must name it for this run/;
/** Says what it has in a form that redaction does not know. */
const tells = (name: string): string => `printf %s "$${name}" | sha256sum`;
const toldOf = (value: string): string => createHash('sha256').update(value).digest('hex');

const GIT_TOKEN = 'git-canary-1234-1234';

let git: GitServer;
/** Somebody else's, which asks for credentials like any other. */
let elsewhere: GitServer;
let scratch: string;
let service: TestService;
let repository: TestRepository;
let factory: string;
let operator: string;

const automation = (secret: string, more = ''): string =>
  `---\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: [hook]}}\n` +
  `secrets: [{name: ${secret}}]\n${more}---\n${tells(secret)}; exit 0\n`;

beforeAll(async () => {
  [git, elsewhere] = [await startGitServer(), await startGitServer()];
  scratch = mkdtempSync(join(tmpdir(), 'secret-grants-'));
  const authorities = join(scratch, 'authorities.pem');
  writeFileSync(authorities, [git, elsewhere].map(({ caFile }) => readFileSync(caFile, 'utf8')).join(''));
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: authorities,
      MILLWRIGHT_RUN_ALLOW_HOSTS: new URL(elsewhere.url).host,
      MILLWRIGHT_RUN_COMMAND: JSON.stringify(['/bin/sh', '-c', 'sh prompt.md 2>/dev/null']),
      MILLWRIGHT_SYNC_INTERVAL: '3600',
    },
  });
  await service.secret('hook', HOOK);
  for (const [name, value] of Object.entries(VALUES))
    await service.api('PUT', `/secrets/${name}`, { value, grants: { uses: ['run'] } });
  repository = git.createRepository('main');
  repository.commit({
    [webhookPath('hook')]: webhookFile('hook'),
    'environments/build.yaml': 'secrets: [{name: BUILD_TOKEN}]\n',
    'automations/deploy/automation.md': automation('DEPLOY_TOKEN'),
  });
  factory = await service.factory('main', { kind: 'git', url: git.urlOf('main'), branch: 'main' });
  operator = await makeKey(service, 'operator', { factories: [factory] });
});

afterAll(async () => {
  await service.stop();
  await Promise.all([git.close(), elsewhere.close()]);
  rmSync(scratch, { recursive: true });
});

const grant = async (name: string, grants: unknown): Promise<void> =>
  expect((await service.api('PUT', `/secrets/${name}`, { grants })).status).toBe(200);

/** A run as the operator asks for it: how it ended, and what it said. */
async function asked(prompt: string, config: unknown): Promise<{ state: unknown; message: unknown; said: string }> {
  const answer = await service.api('POST', '/agent/runs', { prompt, factory_uid: factory, config }, operator);
  expect(answer.status).toBe(200);
  return outcomeOf(String(answer.body['run_id']));
}

async function outcomeOf(runId: string): Promise<{ state: unknown; message: unknown; said: string }> {
  const run = await runIn(service, runId, ...ENDED);
  const { events } = (await service.api('GET', `/agent/runs/${runId}/events?limit=1000`)).body;
  const said = JSON.stringify([run, events]);
  for (const value of Object.values(VALUES)) expect(said).not.toContain(value);
  return { state: run['state'], message: (run['status_message'] as { message?: string } | undefined)?.message, said };
}

/** What the automations say of a delivery, by name. */
async function delivered(): Promise<Map<unknown, { state: unknown; said: string }>> {
  expect((await deliver(service.ingressUrl('main', 'hook'), HOOK)).status).toBe(202);
  const path = `/factory/${factory}/webhooks/${service.webhookUid('main', 'hook')}/deliveries`;
  const { deliveries } = (await service.api('GET', path)).body as {
    deliveries: { started: { run_id: string }[] }[];
  };
  const told = new Map<unknown, { state: unknown; said: string }>();
  for (const { run_id: runId } of deliveries[0]?.started ?? []) {
    const outcome = await outcomeOf(runId);
    const { agent_config: config } = (await service.api('GET', `/agent/runs/${runId}`)).body;
    told.set((config as { name: string }).name, outcome);
  }
  return told;
}

describe('an operator who wants a secret', () => {
  it('does not get one by naming it, whatever file names it for other runs', async () => {
    for (const name of ['DEPLOY_TOKEN', 'BUILD_TOKEN']) {
      const { state, message, said } = await asked(tells(name), { secrets: [{ name }] });
      expect([state, message]).toEqual(['FAILED', expect.stringMatching(REFUSED)]);
      expect(said).not.toContain(toldOf(VALUES[name as keyof typeof VALUES]));
    }
    const both = { environment_id: 'build', secrets: [{ name: 'DEPLOY_TOKEN' }] };
    expect((await asked(tells('DEPLOY_TOKEN'), both)).message).toMatch(REFUSED);
    // The automation does.
    const { state, said } = (await delivered()).get('deploy') ?? {};
    expect([state, said?.includes(toldOf(VALUES.DEPLOY_TOKEN))]).toEqual(['SUCCEEDED', true]);
  });

  it('does not get one of an environment that is for one automation only, though its file names it', async () => {
    await grant('BUILD_TOKEN', { runs: ['automation/deploy'] });
    const refused = await asked(tells('BUILD_TOKEN'), { environment_id: 'build' });
    expect([refused.state, refused.message]).toEqual(['FAILED', expect.stringMatching(REFUSED)]);
    expect((await asked(tells('BUILD_TOKEN'), { secrets: [{ name: 'BUILD_TOKEN' }] })).message).toMatch(REFUSED);
  });

  it.each([['files'], [['environment/build']]])(
    'has none inside by choosing the environment that names it, granted as %j',
    async (runs) => {
      await grant('BUILD_TOKEN', { runs });
      const { state, message, said } = await asked(tells('BUILD_TOKEN'), { environment_id: 'build' });
      expect([state, message]).toEqual(['FAILED', expect.stringContaining('BUILD_TOKEN would be inside this run')]);
      expect(said).not.toContain(toldOf(VALUES.BUILD_TOKEN));
      // A header goes where the request says, too, and what is refused has not become the host of the secret.
      const mcp = { leak: { url: `${elsewhere.url}/mcp`, headers: { Authorization: 'Bearer ${BUILD_TOKEN}' } } };
      const sent = await asked('true', { harness: { type: 'builtin' }, environment_id: 'build', mcp_servers: mcp });
      expect([sent.state, sent.message]).toEqual(['FAILED', expect.stringContaining('would be inside this run')]);
      const { body } = await service.api('GET', '/secrets/BUILD_TOKEN');
      expect((body['grants'] as { hosts?: unknown }).hosts ?? null).toBeNull();
      await grant('BUILD_TOKEN', { runs: '*' });
      const allowed = await asked(tells('BUILD_TOKEN'), { environment_id: 'build' });
      expect(allowed.said).toContain(toldOf(VALUES.BUILD_TOKEN));
    },
  );

  it('gets one that is granted to requests, which is said where grants are shown', async () => {
    await grant('DEPLOY_TOKEN', { runs: '*' });
    const { body } = await service.api('GET', '/secrets/DEPLOY_TOKEN');
    expect(body['grants']).toEqual({ factories: '*', uses: ['run'], runs: '*' });
    const { said } = await asked(tells('DEPLOY_TOKEN'), { secrets: [{ name: 'DEPLOY_TOKEN' }] });
    expect(said).toContain(toldOf(VALUES.DEPLOY_TOKEN));
    await grant('DEPLOY_TOKEN', { runs: 'files' });
  });
});

describe('a file that wants the secret of another one', () => {
  it('does not apply, and what was started before it was taken away gets nothing', async () => {
    await grant('DEPLOY_TOKEN', { runs: ['automation/deploy'] });
    repository.commit({ 'automations/thief/automation.md': automation('DEPLOY_TOKEN') });
    await service.sync(factory);
    const { last_sync: sync } = (await service.api('GET', `/factory/${factory}/status`)).body as {
      last_sync: { ending: string; problems: { path: string; rule: string; severity: string }[] };
    };
    const errors = sync.problems.filter(({ severity }) => severity === 'error');
    expect([sync.ending, errors]).toEqual([
      'blocked',
      [expect.objectContaining({ path: 'automations/thief/automation.md', rule: 'secret-known' })],
    ]);
    await grant('DEPLOY_TOKEN', { runs: 'files' });
    await service.sync(factory);
    await eventually('the file applies', async () =>
      (await delivered()).get('thief')?.said.includes(toldOf(VALUES.DEPLOY_TOKEN)) === true ? true : undefined,
    );
    await grant('DEPLOY_TOKEN', { runs: ['automation/deploy'] }); // it serves, and is asked at the start of a run
    const told = await delivered();
    expect([told.get('deploy')?.state, told.get('thief')?.state]).toEqual(['SUCCEEDED', 'FAILED']);
    expect(told.get('thief')?.said).not.toContain(toldOf(VALUES.DEPLOY_TOKEN));
  });
});

describe('a host that a credential is not for', () => {
  const hostOf = ({ url }: GitServer): string => new URL(url).host;
  const heard = (): string[] =>
    elsewhere.requests.map(({ authorization = '' }) => Buffer.from(authorization.slice(6), 'base64').toString());
  const refusal = (): RegExp =>
    new RegExp(
      `the secret GIT_TOKEN is for ${hostOf(git)} and is not sent to ${hostOf(elsewhere)}; let it go there ` +
        `\\(millwright secrets grant GIT_TOKEN --hosts ${hostOf(git)},${hostOf(elsewhere)}\\)`,
    );
  let own: string;

  beforeAll(async () => {
    for (const server of [git, elsewhere]) {
      server.createRepository('private').commit({
        'factory.yaml': 'name: Private\n',
        'environments/theirs.yaml':
          `repositories: [{ url: '${elsewhere.url}/private', credentialSecret: GIT_TOKEN }]\n` +
          `setupCommands: ['ls private']\n`,
      });
      server.tokens.set('private', GIT_TOKEN);
    }
    await service.api('PUT', '/secrets/GIT_TOKEN', { value: GIT_TOKEN, grants: { uses: ['git'] } });
    own = await service.factory('private', {
      kind: 'git',
      url: git.urlOf('private'),
      branch: 'main',
      credentialSecret: 'GIT_TOKEN',
    });
  });

  const source = (server: GitServer): unknown => ({
    kind: 'git',
    url: server.urlOf('private'),
    branch: 'main',
    credential_secret: 'GIT_TOKEN',
  });
  const repoint = async (server: GitServer): Promise<{ ending: string; message: string | null }> => {
    expect((await service.api('PATCH', `/factory/${own}`, { source: source(server) })).status).toBe(200);
    await service.sync(own);
    return (await service.api('GET', `/factory/${own}/status`)).body['condition'] as never;
  };

  it('is every host but the first that it was sent to', async () => {
    const { body } = await service.api('GET', '/secrets/GIT_TOKEN');
    expect(body['grants']).toEqual({ factories: '*', uses: ['git'], hosts: [hostOf(git)] });
    const trail = (await service.api('GET', '/audit?limit=100')).body['entries'] as { action: string }[];
    expect(trail.filter(({ action }) => action === 'secret.bind')).toHaveLength(1);
  });

  it('gets nothing of a source that is pointed at it; the condition names both hosts and the way out', async () => {
    elsewhere.forget();
    expect(await repoint(elsewhere)).toMatchObject({ ending: 'failed', message: expect.stringMatching(refusal()) });
    expect([heard().join().includes(GIT_TOKEN), elsewhere.requests.length]).toEqual([false, 0]);
    expect(await repoint(git)).toMatchObject({ ending: 'applied' });
  });

  it('gets nothing of an environment that is pointed at it, though runs may reach it', async () => {
    elsewhere.forget();
    const made = await service.api('POST', '/agent/runs', {
      prompt: 'true',
      factory_uid: own,
      config: { environment_id: 'theirs' },
    });
    const { state, message } = await outcomeOf(String(made.body['run_id']));
    expect([state, message]).toEqual(['FAILED', expect.stringMatching(refusal())]);
    expect([heard().join().includes(GIT_TOKEN), elsewhere.requests.length]).toEqual([false, 0]);
  });

  it('gets it once somebody has said so, and the value is in no log', async () => {
    await grant('GIT_TOKEN', { hosts: [hostOf(git), hostOf(elsewhere)] });
    expect(await repoint(elsewhere)).toMatchObject({ ending: 'applied' });
    expect(heard().join()).toContain(GIT_TOKEN);
    expect(service.logged.join('')).not.toContain(GIT_TOKEN);
  });
});
