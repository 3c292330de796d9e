/**
 * Secrets belong to definitions: what an operator can have of a secret by starting runs, and what a file that is not
 * its own can. contract §2.2 (Managed secrets).
 */
import { createHash } from 'node:crypto';
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

let git: GitServer;
let service: TestService;
let repository: TestRepository;
let factory: string;
let operator: string;

const automation = (secret: string, more = ''): string =>
  `---\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: [hook]}}\n` +
  `secrets: [{name: ${secret}}]\n${more}---\n${tells(secret)}; exit 0\n`;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
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
  await git.close();
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
    await grant('BUILD_TOKEN', { runs: ['environment/build'] });
    expect((await asked(tells('BUILD_TOKEN'), { environment_id: 'build' })).said).toContain(toldOf(VALUES.BUILD_TOKEN));
    expect((await asked(tells('BUILD_TOKEN'), { secrets: [{ name: 'BUILD_TOKEN' }] })).message).toMatch(REFUSED);
  });

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
      last_sync: { ending: string; problems: { path: string; rule: string }[] };
    };
    expect([sync.ending, sync.problems]).toEqual([
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
