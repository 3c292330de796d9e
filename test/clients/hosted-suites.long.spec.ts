/**
 * The tests that the hosted service's Python clients bring along in their source packages, run against this service:
 * a proxy puts identifiers that exist in the place of theirs. They fail in nothing but what is not served. contract
 * §3.11 (Published clients).
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOSTED_METHODS } from '#contracts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, startedRun } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { isHostedNeeded, preparedHostedClients } from './hosted-clients.ts';
import { startPlaceholderProxy, type PlaceholderProxy } from './placeholder-proxy.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MINUTES_MAX = 9;
/** What the tests call a conversation. */
const CONVERSATION = '182bd5e5-6e1a-4fe4-a799-aa6d9a6ab26e';
const TICKET = 'https://tracker.example/birds/7';

/** Fewer of them would mean that most have been left out. */
const PACKAGES = [
  { sdist: 'warp-platform-sdk==1.0.0', tests: 500 },
  { sdist: 'oz-agent-sdk==0.15.0', tests: 300 },
] as const;

/** Requests of those tests that no service could take, and why. */
const UNFIT: Readonly<Record<string, string>> = {
  'agent.run': 'neither prompt nor skill nor conversation',
  'agent.run with all params': 'an agent identity, another creator, two skills that exclude each other',
  'agent.agent.create with all params':
    'credentials of its creator, two names of a harness, an MCP server of two kinds',
  'agent.agent.update with all params':
    'credentials of its creator, two names of a harness, an MCP server of two kinds',
  'agent.schedules.create': 'neither prompt nor skill',
  'agent.schedules.create with all params':
    'an agent identity that there is none of, two skills that exclude each other',
  'agent.schedules.update with all params':
    'an agent identity that there is none of, two skills that exclude each other',
  'agent.runs.submit_followup': 'neither message nor attachments',
  'agent.conversations.submit_followup': 'neither message nor attachments',
};

const python = preparedHostedClients('--prepare-hosted-suites');

let service: TestService;
let folder: FactoryFolder;
let proxy: PlaceholderProxy;
let box: string;

/** `tests/api_resources/agent/test_runs.py::TestRuns::test_method_list_with_all_params[loose]` → what is called. */
function calledBy(test: string): { method: string; isAll: boolean; sends: boolean } {
  const [, place = '', kind = '', name = ''] =
    /api_resources\/(.+)\.py::\w+::test_(method|raw_response|streaming_response|path_params)_(\w+)/.exec(test) ?? [];
  const resource = place
    .replaceAll(/test_(\w+)/g, '$1')
    .replace(/_$/, '')
    .replaceAll('/', '.');
  const isAll = name.endsWith('_with_all_params');
  return { method: `${resource}.${name.replace('_with_all_params', '')}`, isAll, sends: kind !== 'path_params' };
}

/** Why a test may fail; undefined: it may not. */
function reasonOf(test: string): string | undefined {
  const { method, isAll, sends } = calledBy(test);
  if (!sends) return undefined;
  return (
    HOSTED_METHODS.find(({ name }) => name === method)?.reason ?? UNFIT[`${method}${isAll ? ' with all params' : ''}`]
  );
}

function ran(folderOfTests: string, outcomes: string): Promise<string> {
  const args = ['-m', 'pytest', '-p', 'hosted_suites', '--outcomes', outcomes, '-n', '0', '-q', '--tb=line'];
  const child = spawn(String(python), [...args, '-p', 'no:cacheprovider', 'tests/api_resources'], {
    cwd: folderOfTests,
    env: { ...process.env, PYTHONPATH: HERE, PYTHONDONTWRITEBYTECODE: '1', TEST_API_BASE_URL: proxy.url },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });
}

/** A prompt that the demo model does step by step. */
const demo = (steps: readonly unknown[]): string => `Do this.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;

/** A run that goes on for long. */
const lasting = (): Promise<string> => startedRun(service, demo([{ tool: 'bash', input: { command: 'sleep 900' } }]));

const ofRun = (run: string): Record<string, string> =>
  Object.fromEntries(['runId', 'run_id', 'conversation_id', CONVERSATION].map((word) => [word, run]));

/** One of its own for each request: many of them end what they are about. */
async function identity(): Promise<Record<string, string>> {
  return { uid: String((await service.api('POST', '/agent/identities', { name: 'reviewer' })).body['uid']) };
}

async function schedule(): Promise<Record<string, string>> {
  const wanted = { name: 'nightly', cron_schedule: '0 9 * * *', prompt: 'Look.' };
  const { body } = await service.api('POST', '/agent/schedules', wanted);
  return { scheduleId: String(body['id']), schedule_id: String(body['id']), cron_schedule: wanted.cron_schedule };
}

async function world(): Promise<Record<string, string>> {
  await folder.writeFile(
    'automations/nightly/automation.md',
    '---\ntriggers:\n' +
      '  - {provider: schedule, event: cron_fired, schedule: {name: early, cron: "0 9 * * *"}}\n---\nLook.\n',
  );
  const factory = await service.factory('birds', folder.source);
  const prompt = demo([
    { tool: 'bash', input: { command: 'echo done >report.md' } },
    { tool: 'report_artifact', input: { type: 'FILE', path: 'report.md' } },
    { say: 'done' },
  ]);
  const dispatched = { prompt, ticket_url: TICKET };
  const run = String((await service.api('POST', `/factory/${factory}/runs`, dispatched)).body['run_id']);
  await runIn(service, run, ...ENDED);
  const { body } = await service.api('GET', `/agent/runs/${run}`);
  const files = (await service.api('GET', `/agent/runs/${run}/handoff/attachments`)).body['attachments'];
  const [file] = files as { attachment_id: string }[];
  const artifact = String(file?.attachment_id);
  return {
    ...Object.fromEntries(['runId', 'run_id', 'conversationId', 'conversation_id'].map((word) => [word, run])),
    ...Object.fromEntries(['artifactUid', 'attachment_id'].map((word) => [word, artifact])),
    ...Object.fromEntries(['sessionUuid', 'session_uuid'].map((word) => [word, String(body['session_id'])])),
    ...Object.fromEntries(['ticket_url', 'url'].map((word) => [word, TICKET])),
    [CONVERSATION]: run,
    uid: factory,
    repo: 'acme/birds',
    cursor: '',
    schema_version: 'v1alpha1',
    document: 'automation',
    'X-Warp-Team-Uid': 'team',
  };
}

(python === undefined && !isHostedNeeded ? describe.skip : describe)('the own tests of a published client', () => {
  beforeAll(async () => {
    service = await bootService({
      environment: {
        MILLWRIGHT_RUN_COMMAND: '',
        MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
        MILLWRIGHT_SYNC_INTERVAL: '3600',
        MILLWRIGHT_RUN_CONCURRENCY: '2',
      },
    });
    folder = await factoryFolder({});
    const words = await world();
    const [ended, interrupted] = [ofRun(await lasting()), ofRun(await lasting())];
    proxy = await startPlaceholderProxy({
      target: `${service.url}/api/v1`,
      key: service.adminKey,
      words,
      special: [
        { request: /\/cancel$/, words: async () => ended },
        { request: /\/interrupt$/, words: async () => interrupted },
        { request: /\/agent\/identities\/./, words: identity },
        { request: /\/agent\/schedules(\/|$)/, words: schedule },
      ],
    });
    box = await mkdtemp(join(tmpdir(), 'millwright-hosted-suites-'));
  }, MINUTES_MAX * 60_000);
  afterAll(async () => {
    await proxy?.close();
    await service?.stop();
    await folder?.remove();
    await rm(box, { recursive: true, force: true });
  });

  it.each(PACKAGES)(
    '$sdist fail in what is not served alone',
    async ({ sdist, tests }) => {
      const into = await mkdtemp(join(box, 'sdist-'));
      const pip = ['-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', ':all:', '-d', into, sdist];
      expect(spawnSync(String(python), pip, { encoding: 'utf8' })).toMatchObject({ status: 0 });
      const [archive = ''] = await readdir(into);
      expect(spawnSync('tar', ['-xzf', join(into, archive), '-C', into]).status).toBe(0);
      proxy.refused.clear();
      const output = await ran(join(into, archive.replace('.tar.gz', '')), join(into, 'outcomes.json'));
      const outcomes = JSON.parse(await readFile(join(into, 'outcomes.json'), 'utf8')) as Record<string, string>;
      const named = Object.entries(outcomes).map(([test, outcome]) => ({ test, outcome, reason: reasonOf(test) }));
      const failed = named.filter(({ outcome }) => outcome === 'failed');
      const passed = named.filter(({ outcome }) => outcome === 'passed');
      process.stderr.write(`${sdist}: ${passed.length} passed, ${failed.length} failed, for reasons\n`);
      const told = {
        refused: [...proxy.refused].filter(([, said]) => !said.startsWith('501')),
        output: output.slice(-4_000),
      };
      const unexpected = failed.filter(({ reason }) => reason === undefined).map(({ test }) => test);
      expect({ unexpected, ...(unexpected.length > 0 && told) }).toEqual({ unexpected: [] });
      // What fails for a reason was refused for one: nothing broke, and nothing was missing.
      const odd = [...proxy.refused].filter(([, said]) => !/^(?:400|422|501) /.test(said));
      expect(odd).toEqual([]);
      expect(passed.filter(({ reason }) => reason !== undefined).map(({ test }) => test)).toEqual([]);
      expect(named.length).toBeGreaterThan(tests);
    },
    MINUTES_MAX * 60_000,
  );
});
