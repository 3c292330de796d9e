/** What runs can be made of: skills, environments and models of the factories that a key may see. contract §2, §3.1. */
import { makeKey } from '../support/services/api-keys.ts';
import { automationFile, runIn, webhookFile } from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { ENDED, pointersOf, SHELL, startedRun } from '../support/runs/runs.ts';
import { change } from '../../apps/server/store/database/transactions.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

let service: TestService;
let git: GitServer;
let tools: string;
let shop: string;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      ...SHELL,
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_MODELS: 'large,small',
    },
  });
  await service.secret('hook-token', 'a-token-of-sixteen-or-more');
  const following = async (slug: string, files: Record<string, string>): Promise<string> => {
    git.createRepository(`acme/${slug}`).commit(files);
    return service.factory(slug, { kind: 'git', url: git.urlOf(`acme/${slug}`), branch: 'main' });
  };
  tools = await following('tools', {
    'factory.yaml': 'agentDefaults:\n  model: of-factory\n',
    'skills/review/SKILL.md': '---\nname: review\ndescription: Reads a change.\n---\n# Review\n\nRead it.\n',
    'skills/deploy/SKILL.md': 'Deploy it.\n',
    'environments/node.yaml':
      'dockerImage: node:22\nrepositories: [acme/app, "https://forge.example/acme/lib.git", {owner: acme, name: ' +
      'docs}]\nsetupCommands: [npm ci]\ndescription: For the web.\n',
  });
  shop = await following('shop', {
    'webhooks/orders.yaml': webhookFile('hook-token'),
    'automations/triage/automation.md': automationFile(['orders'], 'Look.', { lines: ['model: of-automation'] }),
    'skills/review/SKILL.md': 'Read the order.\n',
  });
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

interface Agent {
  name: string;
  variants: {
    id: string;
    description: string;
    base_prompt: string;
    environments: { uid: string; name: string }[];
    source: Record<string, string>;
    factory_uid: string;
    last_run_timestamp: string | null;
  }[];
}

const agents = async (query = '', key?: string): Promise<Agent[]> =>
  (await service.api('GET', `/agent${query}`, undefined, key)).body['agents'] as Agent[];
const namesOf = (found: readonly Agent[]): string[] => found.map(({ name }) => name);

describe('skills', () => {
  it('are listed by name, each factory’s own as a variant, ready to be named in a request', async () => {
    const found = await agents();
    expect(namesOf(found)).toEqual(['deploy', 'review']);
    const review = found[1]?.variants ?? [];
    expect(review.map(({ factory_uid: uid }) => uid)).toEqual([shop, tools]);
    const [environment] = (await service.api('GET', '/agent/environments')).body['environments'] as { uid: string }[];
    expect(review[1]).toEqual({
      id: 'acme/tools:skills/review/SKILL.md',
      description: 'Reads a change.',
      base_prompt: '# Review\n\nRead it.',
      environments: [{ uid: environment?.uid, name: 'node' }],
      source: { owner: 'acme', name: 'tools', skill_path: 'skills/review/SKILL.md' },
      factory_uid: tools,
      last_run_timestamp: null,
    });
    expect(review[0]?.environments).toEqual([]);
    const runId = await startedRun(service, 'exit 0', { skill: review[1]?.id, factory_uid: tools });
    expect((await service.api('GET', `/agent/runs/${runId}`)).body).toMatchObject({
      agent_skill: { name: 'review', full_path: 'skills/review/SKILL.md' },
      agent_config: { name: 'review' },
    });
  });

  it('know when they were used last, under either name, in their own factory', async () => {
    const runId = await startedRun(service, 'exit 0', { skill: 'deploy', factory_uid: tools });
    const { created_at: createdAt } = await runIn(service, runId, ...ENDED);
    // of no factory
    await runIn(service, await startedRun(service, 'exit 0', { skill: 'acme/tools:deploy' }), ...ENDED);
    expect((await agents())[0]?.variants[0]?.last_run_timestamp).toBe(createdAt);
    expect(namesOf(await agents('?sort_by=last_run'))[0]).toBe('deploy');
  });

  it('can be asked for by repository', async () => {
    expect(namesOf(await agents('?repo=acme/tools&refresh=true'))).toEqual(['deploy', 'review']);
    expect((await agents('?repo=acme/shop'))[0]?.variants.map(({ factory_uid: uid }) => uid)).toEqual([shop]);
    expect(await agents('?repo=acme/nothing')).toEqual([]);
  });

  it.each([
    ['?repo=nothing', 'repo'],
    ['?repo=a/b/c', 'repo'],
    ['?sort_by=age', 'sort_by'],
    ['?refresh=perhaps', 'refresh'],
  ])('refuse %s', async (query, name) => {
    const answer = await service.api('GET', `/agent${query}`);
    expect(answer.status).toBe(400);
    expect(pointersOf(answer)).toEqual([name]);
  });
});

describe('environments', () => {
  it('are listed with what their files say', async () => {
    const { body } = await service.api('GET', '/agent/environments');
    expect(body['environments']).toEqual([
      {
        uid: expect.any(String),
        factory_uid: tools,
        last_updated: expect.any(String),
        setup_failed: false,
        last_task_run_timestamp: null,
        config: {
          name: 'node',
          description: 'For the web.',
          docker_image: 'node:22',
          setup_commands: ['npm ci'],
          github_repos: [
            { owner: 'acme', repo: 'app' },
            { owner: 'acme', repo: 'lib' },
            { owner: 'acme', repo: 'docs' },
          ],
        },
      },
    ]);
  });

  it('know whether the last run in them failed while it was set up', async () => {
    const runId = await startedRun(service, 'x', {
      factory_uid: tools,
      config: { environment_id: 'node', harness: { type: 'elsewhere' } },
    });
    await runIn(service, runId, 'FAILED');
    const [environment] = (await service.api('GET', '/agent/environments')).body['environments'] as Record<
      string,
      unknown
    >[];
    expect(environment).toMatchObject({ setup_failed: true, last_task_run_timestamp: expect.any(String) });
    // Its repositories are nowhere: this one is made to have gone well.
    const well = await startedRun(service, 'x', {
      factory_uid: tools,
      config: { environment_id: String(environment?.['uid']) },
    });
    await runIn(service, well, 'FAILED');
    await service.service.database.run(() =>
      change("UPDATE run SET state = 'SUCCEEDED', error_code = NULL WHERE run_id = ?", well),
    );
    expect(
      ((await service.api('GET', '/agent/environments')).body['environments'] as Record<string, unknown>[])[0],
    ).toMatchObject({ setup_failed: false });
  });
});

/** A model as published clients ask for it. */
const model = (id: string, source: string): object => ({
  id,
  display_name: id,
  provider: 'UNKNOWN',
  vision_supported: false,
  source,
});

/** Of a service without a model of its own: what is installed besides depends on the machine. */
const AVAILABILITY = expect.objectContaining({
  built_in_harnesses: ['builtin', 'oz'],
  installed_harnesses: expect.arrayContaining(['builtin', 'command']),
  demo_model_only: true,
});

describe('models', () => {
  it('are those that the operator lists and those that definitions name', async () => {
    expect((await service.api('GET', '/agent/models')).body).toEqual({
      models: [
        model('large', 'server'),
        model('of-automation', 'definition'),
        model('of-factory', 'definition'),
        model('small', 'server'),
      ],
      default_model_id: 'auto',
      harnesses: expect.arrayContaining(['builtin', 'command', 'claude']),
      availability: AVAILABILITY,
    });
  });
});

describe('a key that is limited to one factory', () => {
  it('sees nothing of another one', async () => {
    const key = await makeKey(service, 'viewer', { factories: [shop] });
    const ask = (path: string): Promise<ApiAnswer> => service.api('GET', path, undefined, key);
    expect(namesOf(await agents('', key))).toEqual(['review']);
    expect((await agents('', key))[0]?.variants.map(({ factory_uid: uid }) => uid)).toEqual([shop]);
    expect((await ask('/agent/environments')).body).toEqual({ environments: [] });
    expect((await ask('/agent/models')).body).toEqual({
      models: [model('large', 'server'), model('of-automation', 'definition'), model('small', 'server')],
      default_model_id: 'auto',
      harnesses: expect.arrayContaining(['builtin', 'command', 'claude']),
      availability: AVAILABILITY,
    });
    const none = await makeKey(service, 'viewer', { factories: [] });
    expect(await agents('', none)).toEqual([]);
  });

  it('sees nothing of one that was deleted', async () => {
    const uid = await service.factory('gone', { kind: 'git', url: git.urlOf('acme/tools'), branch: 'main' });
    expect((await agents())[0]?.variants.map(({ factory_uid: of }) => of)).toContain(uid);
    await service.api('DELETE', `/factory/${uid}`);
    expect((await agents())[0]?.variants.map(({ factory_uid: of }) => of)).not.toContain(uid);
  });
});
