/**
 * Every member that the hosted service's published Python clients can send to a method that is served: it works, the
 * answer and the run's log say that it is ignored, or it is refused by its name. contract §3.2 (Create), §3.11.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { HOSTED_METHODS } from '#contracts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, logOf, SHELL } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { isHostedNeeded, preparedHostedClients } from './hosted-clients.ts';
import { MEMBER_ROWS, PATH_MEMBERS, type MemberRow } from './hosted-members.ts';

const CALLS = fileURLToPath(new URL('hosted_members.py', import.meta.url));
const TICKET = 'https://tracker.example/birds/7';
const ENDS_WITHIN_MS = 300_000;

const python = preparedHostedClients();

interface Answer {
  absent?: true;
  refused?: number;
  pointers?: string[];
  answered?: { run_id?: string; id?: string; ignored?: string[] };
}

interface Found {
  members: Record<string, string[]>;
  answers: Answer[];
}

let service: TestService;
let folder: FactoryFolder;
let identifiers: Record<string, string>;

/** The same with identifiers in place of their names. */
const filled = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value).replaceAll(/"\$(\w+)"/g, (_, name: string) => `"${identifiers[name]}"`)) as T;

/** Dotted names of what a request says; of lists and maps what is inside. */
function membersIn(value: unknown, known: readonly string[], name = ''): string[] {
  if (known.includes(name) || typeof value !== 'object' || value === null) return [name];
  const inner = Array.isArray(value)
    ? value.map((item: unknown) => [name, item] as const)
    : namedIn(value, known, name);
  return inner.flatMap(([at, item]) => membersIn(item, known, at));
}

/** A map from names of somebody's own to documents adds nothing to the name. */
function namedIn(value: object, known: readonly string[], name: string): (readonly [string, unknown])[] {
  return Object.entries(value).map(([key, item]) => {
    const at = name === '' ? key : `${name}.${key}`;
    const isMember = known.some((member) => member === at || member.startsWith(`${at}.`));
    return [isMember ? at : name, item] as const;
  });
}

function called(client: string, rows: readonly MemberRow[]): Promise<Found> {
  const child = spawn(String(python), [CALLS, client, service.url, service.adminKey], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(rows.map(({ method, request }) => ({ method, request: filled(request) }))));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(output) as Found) : reject(new Error(`exit code ${code}`)),
    );
  });
}

/** A prompt that the demo model does step by step. */
const demo = (steps: readonly unknown[]): string => `Do this.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;

const outcomeOf = ({ refused, answered }: Answer): MemberRow['outcome'] => refused ?? answered?.ignored ?? 'served';

(python === undefined && !isHostedNeeded ? describe.skip : describe)('a member of a published client', () => {
  const found = new Map<string, Found>();

  beforeAll(async () => {
    service = await bootService({
      environment: {
        ...SHELL,
        MILLWRIGHT_RUN_COMMAND: '',
        MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
        MILLWRIGHT_EGRESS_RANGES: '203.0.113.0/24',
        MILLWRIGHT_SYNC_INTERVAL: '3600',
      },
    });
    folder = await factoryFolder({});
    for (const skill of ['count', 'report'])
      await folder.writeFile(`skills/${skill}/SKILL.md`, `---\nname: ${skill}\n---\nThe text of ${skill}.\n`);
    await folder.writeFile('environments/lake.yaml', 'description: Wet.\n');
    const factory = await service.factory('birds', folder.source);
    const prompt = demo([
      { tool: 'bash', input: { command: 'echo done >report.md' } },
      { tool: 'report_artifact', input: { type: 'FILE', path: 'report.md' } },
      { say: 'done' },
    ]);
    const { body } = await service.api('POST', '/agent/runs', { prompt });
    const run = String(body['run_id']);
    await runIn(service, run, ...ENDED);
    const files = (await service.api('GET', `/agent/runs/${run}/handoff/attachments`)).body['attachments'];
    const [file] = files as { attachment_id: string }[];
    const identity = await service.api('POST', '/agent/identities', { name: 'Ada' });
    const keeper = await service.api('POST', '/agent/identities', { name: 'Keeper', factory_uid: factory });
    const clocked = { name: 'Herons', cron_schedule: '0 9 * * 1', prompt: 'Count.' };
    const schedule = await service.api('POST', '/agent/schedules', clocked);
    identifiers = {
      run,
      keeper: String(keeper.body['uid']),
      schedule: String(schedule.body['id']),
      factory,
      identity: String(identity.body['uid']),
      artifact: String(file?.attachment_id),
      ticket: TICKET,
    };
    for (const client of ['warp_platform_sdk', 'oz_agent_sdk']) found.set(client, await called(client, MEMBER_ROWS));
  }, ENDS_WITHIN_MS);
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  it.each(['warp_platform_sdk', 'oz_agent_sdk'])('of %s has a row, one that has none is no parameter', (client) => {
    const { members = {} } = found.get(client) ?? {};
    for (const [method, known] of Object.entries(members)) {
      const rows = MEMBER_ROWS.filter((row) => row.method === method);
      const said = new Set(rows.flatMap(({ request }) => membersIn(request, known)));
      expect({ method, missing: known.filter((name) => !said.has(name)) }).toEqual({ method, missing: [] });
    }
  });

  it('is of a method that has rows, unless it is part of a path', async () => {
    const served = HOSTED_METHODS.filter(({ reason }) => reason === undefined).map(({ name }) => name);
    const { members } = await called(
      'warp_platform_sdk',
      served.map((method) => ({ method, request: { nothing: true }, outcome: 'served' })),
    );
    const missing = Object.entries(members).flatMap(([method, known]) =>
      MEMBER_ROWS.some((row) => row.method === method)
        ? []
        : known.flatMap((name) => (PATH_MEMBERS.includes(name) ? [] : [`${method} ${name}`])),
    );
    expect(missing).toEqual([]);
  });

  it.each(MEMBER_ROWS.map((row, index) => ({ ...row, index, said: JSON.stringify(row.request) })))(
    '$method $said: $outcome',
    async ({ method, index, outcome, run, schedule }) => {
      for (const client of ['warp_platform_sdk', 'oz_agent_sdk']) {
        const answer = found.get(client)?.answers[index] ?? {};
        if (answer.absent === true) {
          expect(client).toBe('oz_agent_sdk');
          continue;
        }
        const isNamed = (answer.pointers ?? []).length > 0;
        expect({ client, outcome: outcomeOf(answer), isNamed }).toEqual({
          client,
          outcome,
          isNamed: typeof outcome === 'number',
        });
        if (schedule !== undefined) expect(answer.answered).toMatchObject(filled(schedule));
        if (method.startsWith('agent.schedules.')) {
          if (method !== 'agent.schedules.create' || answer.answered?.id === undefined) continue;
          const { body } = await service.api('GET', `/agent/schedules/${answer.answered.id}`);
          expect(body['ignored'] ?? 'served').toEqual(outcome);
          continue;
        }
        const runId = String(answer.answered?.run_id ?? identifiers['run']);
        if (run !== undefined)
          expect((await service.api('GET', `/agent/runs/${runId}`)).body).toMatchObject(filled(run));
        if (typeof outcome !== 'object') continue;
        const said = (await logOf(service, runId)).map(({ payload }) => payload.text ?? '');
        expect(said).toContainEqual(expect.stringContaining(`not served here: ${outcome.join(', ')}`));
      }
    },
    ENDS_WITHIN_MS,
  );

  it(
    'that lists skills or names files with blanks reaches the run',
    async () => {
      const look = 'cat .agents/skills/*/SKILL.md "attachments/My notes.txt"; cat ~/.agents/skills/*/SKILL.md';
      const { body } = await service.api('POST', '/agent/runs', {
        prompt: demo([{ tool: 'bash', input: { command: look } }, { say: 'done' }]),
        factory_uid: identifiers['factory'],
        config: { skills: ['count', 'report'] },
        attachments: [{ file_name: 'My notes.txt', mime_type: 'text/plain', data: 'aGVyb25z' }],
      });
      const runId = String(body['run_id']);
      await runIn(service, runId, ...ENDED);
      const said = JSON.stringify(await logOf(service, runId));
      for (const text of ['The text of count.', 'The text of report.', 'herons']) expect(said).toContain(text);
      const twice = await service.api('POST', '/agent/runs', {
        prompt: 'Count.',
        factory_uid: identifiers['factory'],
        config: { skills: ['count', 'acme/tools:count'] },
      });
      await runIn(service, String(twice.body['run_id']), ...ENDED);
      const { body: failed } = await service.api('GET', `/agent/runs/${String(twice.body['run_id'])}`);
      expect(failed['state']).not.toBe('SUCCEEDED');
    },
    ENDS_WITHIN_MS,
  );
});
