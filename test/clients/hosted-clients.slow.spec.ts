/**
 * The hosted service's own Python clients, as published, pointed at this service: every method of theirs comes to what
 * the table says, which the guide shows. contract §3.11.
 */
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { HOSTED_METHODS, type HostedMethod } from '#contracts';
import { deliver } from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { ENDED, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';
import { isHostedNeeded, preparedHostedClients } from './hosted-clients.ts';

const CALLS = fileURLToPath(new URL('hosted_methods.py', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../schemas/generated/openapi.json', import.meta.url));
const ENDS_WITHIN_MS = 300_000;
const TICKET = 'https://tracker.example/birds/7';
const SENDER_TOKEN = 'a-token-of-sixteen-or-more';
/** What a strict client makes of the runs that webhooks started: their sources, or that it refuses them. */
const DELIVERED_RUNS = `
import importlib, json, sys
module, facts = importlib.import_module(sys.argv[1]), json.loads(sys.argv[2])
client = module.Client(base_url=facts["url"] + "/api/v1", api_key=facts["key"], max_retries=0,
                       _strict_response_validation=True)
try:
    print(json.dumps(sorted({run.source for run in client.agent.runs.list(source="CUSTOM_WEBHOOK").runs})))
except module.APIResponseValidationError as error:
    print(json.dumps("source" if "source" in str(error.__cause__) else str(error.__cause__)))
`;

const python = preparedHostedClients();

let service: TestService;
let folder: FactoryFolder;
let facts: Record<string, string>;

const demo = (steps: readonly unknown[]): string => `Do this.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;
const report = (input: Record<string, unknown>): unknown => ({ tool: 'report_artifact', input });
/** By their names. */
const filesOf = async (runId: string): Promise<ReadonlyMap<string | undefined, string>> => {
  const { artifacts } = (await service.api('GET', `/agent/runs/${runId}`)).body as {
    artifacts?: { artifact_uid: string; data: { filename?: string } }[];
  };
  return new Map((artifacts ?? []).map(({ artifact_uid: uid, data }) => [data.filename, uid]));
};

async function succeeded(runId: string): Promise<void> {
  const state = await eventually('the run has ended', async () => {
    const { body } = await service.api('GET', `/agent/runs/${runId}`);
    return ENDED.includes(String(body['state'])) ? String(body['state']) : undefined;
  });
  expect({ runId, state }).toEqual({ runId, state: 'SUCCEEDED' });
}

async function scheduled(factoryUid: string): Promise<string> {
  const { body } = await service.api('POST', '/agent/schedules', {
    name: 'weekly',
    cron_schedule: '0 9 * * 1',
    prompt: 'Look.',
    factory_uid: factoryUid,
  });
  return String(body['id']);
}

async function agentIdentity(factoryUid: string): Promise<string> {
  const { body } = await service.api('POST', '/agent/identities', {
    name: 'reviewer',
    description: 'Reads.',
    agent_type: 'REVIEW',
    prompt: 'Read.',
    harness: { type: 'oz' },
    base_model: 'demo',
    environment_id: 'lake',
    factory_uid: factoryUid,
    mcp_servers: { birds: { url: 'https://birds.example/mcp' } },
    skills: ['count'],
    secrets: [{ name: 'SENDER' }],
  });
  return String(body['uid']);
}

/** Every kind of thing that a method can ask for; all of it made by the agent that comes with the service. */
async function world(): Promise<Record<string, string>> {
  await service.secret('sender-token', SENDER_TOKEN);
  folder = await factoryFolder({
    webhooks: { events: { secretName: 'sender-token' } },
    automations: { seen: { webhooks: ['events'] } },
  });
  await folder.writeFile('skills/count/SKILL.md', '---\nname: count\ndescription: Counts.\n---\nCount.\n');
  await folder.writeFile('environments/lake.yaml', 'description: Wet.\n');
  await folder.writeFile(
    'automations/nightly/automation.md',
    '---\ntriggers:\n' +
      '  - {provider: schedule, event: cron_fired, schedule: {name: early, cron: "0 9 * * *"}}\n---\nLook.\n',
  );
  const factory = await service.factory('birds', folder.source);
  const dispatched = await service.api('POST', `/factory/${factory}/runs`, {
    prompt: demo([
      { tool: 'bash', input: { command: 'printf "# Plan\\n" >plan.md && echo done >report.md && echo x >page.png' } },
      report({ type: 'FILE', path: 'report.md' }),
      report({ type: 'FILE', path: 'page.png' }),
      report({ type: 'PLAN', path: 'plan.md' }),
      report({ type: 'PULL_REQUEST', url: 'https://forge.example/acme/birds/pull/7' }),
      { say: 'done' },
    ]),
    ticket_ref: '7',
    ticket_url: TICKET,
  });
  const runId = String(dispatched.body['run_id']);
  await succeeded(runId);
  const live = await startedRun(service, demo([{ tool: 'bash', input: { command: 'sleep 600' } }]), {
    parent_run_id: runId,
    config: { harness: { type: 'oz' }, model_id: 'auto' },
  });
  const { environments } = (await service.api('GET', '/agent/environments')).body;
  const interrupted = await startedRun(service, demo([{ tool: 'bash', input: { command: 'sleep 600' } }]), {
    config: { harness: { type: 'oz' } },
  });
  const { body } = await service.api('GET', `/agent/runs/${runId}`);
  const files = await filesOf(runId);
  return {
    url: service.url,
    key: service.adminKey,
    run_id: runId,
    plan_run_id: runId,
    live_run_id: live,
    factory_uid: factory,
    session_id: String(body['session_id']),
    artifact_uid: String(files.get('report.md')),
    screenshot_uid: String(files.get('page.png')),
    ticket_url: TICKET,
    agent_uid: await agentIdentity(factory),
    interrupted_run_id: interrupted,
    environment_uid: String((environments as { uid: string }[])[0]?.uid),
    schedule_id: await scheduled(factory),
  };
}

/** Method → verdict, as the program writes them; what went wrong goes to standard error. */
async function verdicts(client: HostedMethod['clients'][number]): Promise<Record<string, string>> {
  const given = {
    ...facts,
    doomed_schedule_id: await scheduled(String(facts['factory_uid'])),
    doomed_agent_uid: await agentIdentity(String(facts['factory_uid'])),
  };
  return (await written([CALLS, client, JSON.stringify(given)])) as Record<string, string>;
}

/** The JSON that a program of these clients writes. */
function written(args: readonly string[]): Promise<unknown> {
  const child = spawn(String(python), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`exit code ${code}`))));
  });
}

const expectedOf = ({ served }: HostedMethod): string => (served === 'strictly' ? 'strict' : served);

(python === undefined && !isHostedNeeded ? describe.skip : describe)('the published client', () => {
  beforeAll(async () => {
    service = await bootService({
      environment: {
        MILLWRIGHT_SYNC_INTERVAL: '3600',
        MILLWRIGHT_RUN_COMMAND: '',
        MILLWRIGHT_EGRESS_RANGES: '203.0.113.0/24, 2001:db8::/32',
        MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
      },
    });
    facts = await world();
  }, ENDS_WITHIN_MS);
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  it.each(['warp_platform_sdk', 'oz_agent_sdk', 'warp_agent_sdk'] as const)(
    '%s comes with every method to what the table says',
    async (client) => {
      const expected = HOSTED_METHODS.filter(({ clients }) => clients.includes(client)).map(
        (method) => [method.name, method.served === 'not' ? 'refused 501' : expectedOf(method)] as const,
      );
      expect(await verdicts(client)).toEqual(Object.fromEntries(expected));
    },
    ENDS_WITHIN_MS,
  );

  it(
    'lists runs that a webhook started strictly at its newest, which alone knows their source',
    async () => {
      expect(await deliver(service.ingressUrl('birds', 'events'), SENDER_TOKEN)).toMatchObject({ status: 202 });
      const asked = (client: string): Promise<unknown> =>
        written(['-c', DELIVERED_RUNS, client, JSON.stringify(facts)]);
      expect([await asked('warp_platform_sdk'), await asked('oz_agent_sdk')]).toEqual([['CUSTOM_WEBHOOK'], 'source']);
    },
    ENDS_WITHIN_MS,
  );

  it('has 52 methods at its newest, of which 44 are served', () => {
    const newest = HOSTED_METHODS.filter(({ clients }) => clients.includes('warp_platform_sdk'));
    const served = newest.filter(({ served: how }) => how === 'strictly');
    expect([newest.length, served.length]).toEqual([52, 44]);
  });

  it(
    'is made for a document that the checker of its specification passes',
    () => {
      const checked = spawnSync(String(python), ['-m', 'openapi_spec_validator', DOCUMENT], {
        encoding: 'utf8',
        timeout: ENDS_WITHIN_MS,
      });
      expect({ code: checked.status, said: checked.stdout }).toEqual({ code: 0, said: `${DOCUMENT}: OK\n` });
    },
    ENDS_WITHIN_MS,
  );
});
