/**
 * Factories of the hosted service's shapes: they are valid, to `millwright validate` and to what is asked as the hosted
 * service's script asks, and a run of each succeeds with the demo model. contract §3.12, §8.6.
 */
import { call } from '../support/services/recorded-io.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { HOSTED_TREES } from '../support/factories/hosted-trees.ts';
import { ENDED } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const ENDS_WITHIN_MS = 120_000;
/** What that script sends of a tree: neither skills nor webhooks, nor what lies elsewhere. */
const SENT = new RegExp(
  '^(?:factory\\.yaml|runners/[^/]+\\.yaml|' +
    '(?:agents/[^/]+/agent|automations/(?:[^/]+/automation|[^/]+)|scorers/[^/]+/scorer)\\.md)$',
);

let service: TestService;
const folders: FactoryFolder[] = [];

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_COMMAND: '' } });
});
afterAll(async () => {
  await service.stop();
  for (const folder of folders) await folder.remove();
});

async function folderOf(tree: Readonly<Record<string, string>>): Promise<FactoryFolder> {
  const folder = await factoryFolder({});
  folders.push(folder);
  for (const [path, text] of Object.entries(tree)) await folder.writeFile(path, text);
  return folder;
}

interface Verdict {
  schema_version: unknown;
  diagnostics: { code: string; message: string; path: string; line: unknown }[];
  deferred_resolutions: { path: unknown; field: unknown; kind: unknown }[];
}

/** One request without a key, of which every diagnostic is an error. */
async function asked(tree: Readonly<Record<string, string>>): Promise<Verdict> {
  const files = Object.entries(tree).flatMap(([path, content]) => (SENT.test(path) ? [{ path, content }] : []));
  const answer = await fetch(`${service.url}/api/v1/factory-files/validate`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({ files }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Verdict;
}

describe.each(Object.entries(HOSTED_TREES))('a factory of the shape "%s"', (name, tree) => {
  const slug = name.replaceAll(' ', '-');

  it('is valid, and says in few words what is lost', async () => {
    const { path } = await folderOf(tree);
    const { code, out } = await call(['validate', path]);
    expect({ code, errors: out.match(/: error/g) }).toEqual({ code: 0, errors: null });
    const lost = out.split('\n').filter((line) => line.includes('[unsupported-here]'));
    const places = lost.map((line) => line.split(':')[0]);
    expect(lost.length).toBeGreaterThan(0);
    expect(new Set(places).size).toBe(places.length);
  });

  it('is valid to who asks as the script of the hosted service does', async () => {
    const { schema_version: version, diagnostics, deferred_resolutions: deferred } = await asked(tree);
    expect({ version: typeof version, diagnostics }).toEqual({ version: 'string', diagnostics: [] });
    for (const { path, field, kind } of deferred)
      expect([path, field, kind].map((member) => typeof member)).toEqual(['string', 'string', 'string']);
  });

  it(
    'dispatches a run that succeeds with the demo model',
    async () => {
      const { source } = await folderOf(tree);
      const uid = await service.factory(slug, source);
      const status = await service.sync(uid);
      expect(status['condition']).toMatchObject({ ending: 'applied' });
      const { body, status: code } = await service.api('POST', `/factory/${uid}/runs`, { prompt: 'Look around.' });
      expect(code).toBe(200);
      const run = await eventually(
        'the run has ended',
        async () => {
          const { body: item } = await service.api('GET', `/agent/runs/${String(body['run_id'])}`);
          return ENDED.includes(String(item['state'])) ? item : undefined;
        },
        ENDS_WITHIN_MS,
      );
      expect(run).toMatchObject({
        state: 'SUCCEEDED',
        agent_config: { model_id: 'demo', harness: { type: 'oz' } },
      });
    },
    ENDS_WITHIN_MS,
  );
});

describe('a factory with a mistake', () => {
  const tree = {
    ...HOSTED_TREES['one repository'],
    'automations/wrong.md':
      '---\ntriggers:\n  - {provider: schedule, event: cron_fired, schedule: {cron: never}}\n---\nx\n',
  };

  it('is none to the command and to the script alike, in the same place', async () => {
    const { path } = await folderOf(tree);
    const { code, out } = await call(['validate', path]);
    const { diagnostics } = await asked(tree);
    expect(code).toBe(1);
    const places = out
      .split('\n')
      .flatMap((line) => /^(.+?):(\d+):\d+: (?!warning)/.exec(line)?.slice(1, 3).join() ?? []);
    expect(diagnostics.map((found) => [found.path, found.line].join())).toEqual(places);
    expect(diagnostics[0]).toMatchObject({ code: expect.stringMatching(/^FF_/), message: expect.any(String) });
  });
});
