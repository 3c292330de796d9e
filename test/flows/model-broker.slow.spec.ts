/**
 * A run and its model: the key stays outside of the sandbox, only what the run was given is asked for, and what it uses
 * is counted outside. contract §10.3 (Model calls).
 */
import { randomBytes } from 'node:crypto';
import { profilesWith, type OwnProfile } from '#agents';
import { SUITE_AGENT } from '../support/agents/suite-agent.ts';
import { startFakeModelServer, type FakeModelServer, type Reply } from '../support/models/fake-model-server.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** In no file of the machine. */
const KEY = `sk-canary-${randomBytes(12).toString('hex')}`;

/** Variables and words of every program in the sandbox, and the names of its files that hold the key. */
const SEARCH = [
  'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; tr "\\0" "\\n" < $p/cmdline; done 2>/dev/null',
  'env',
  // In two pieces: the question itself is in the agent's notes.
  `key='${KEY.slice(0, 12)}''${KEY.slice(12)}'`,
  'echo "$key" > $TMPDIR/control',
  'without="--exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=node_modules"',
  'for f in $(grep -rlaF $without "$key" / 2>/dev/null); do echo "in $f"; done',
].join('; ');

/** The agent keeps its settings from its tools, but not from whoever looks at its process. */
const SETTINGS =
  "export $(cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a '^MILLWRIGHT_AGENT_' | sort -u)";

let model: FakeModelServer;
let service: TestService;
beforeAll(async () => {
  model = await startFakeModelServer([]);
  service = await bootService({
    environment: {
      MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'm-1',
      MILLWRIGHT_AGENT_API_KEY: KEY,
      MILLWRIGHT_AGENT_RETRIES_MAX: '0',
      MILLWRIGHT_AGENT_PRICE_INPUT: '10',
      MILLWRIGHT_AGENT_PRICE_OUTPUT: '20',
    },
  });
});
afterAll(async () => {
  await service.stop();
  await model.close();
});

const bash = (command: string, usage = { input: 1_000, output: 10 }): Reply => ({
  tools: [{ name: 'bash', input: { command } }],
  usage,
});

async function ended(script: Reply[]): Promise<Record<string, unknown>> {
  model.script = script;
  const runId = await startedRun(service, 'Look around.', { config: { harness: { type: 'builtin' } } });
  return eventually(
    'the run ends',
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return ENDED.includes(String(body['state'])) ? { ...body, log: await logOf(service, runId) } : undefined;
    },
    120_000,
  );
}

/** What its tools have told the agent. */
const toldByTools = (): string =>
  model.requests
    .flatMap(({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ text }) => text))
    .join('\n');

it('has its key added outside, and nothing inside holds it', async () => {
  const run = await ended([bash(SEARCH), { text: 'Nothing.', usage: { input: 500, output: 5 } }]);
  expect(run['state']).toBe('SUCCEEDED');
  expect(model.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
  expect(toldByTools()).toContain('MILLWRIGHT_AGENT_BASE_URL=http://127.0.0.1:61128/models/model');
  expect(toldByTools()).toContain('MILLWRIGHT_AGENT_API_KEY=mw-placeholder-');
  expect(toldByTools()).not.toContain(KEY);
  expect(toldByTools().match(/^in .*/gm)).toEqual([expect.stringMatching(/^in .*\/control$/)]);
  // redacted would mean that it was there
  expect(JSON.stringify(run)).not.toContain('[redacted]');
  expect(run['request_usage']).toMatchObject({ inference_cost: 0.0153 });
}, 240_000);

it('has a placeholder of its own, which is worth nothing in another run', async () => {
  const own = bash(`${SETTINGS}; echo "placeholder $MILLWRIGHT_AGENT_API_KEY"`);
  await ended([own, { text: 'Well.' }]);
  const [, first = ''] = /placeholder (mw-placeholder-\S+)/.exec(toldByTools()) ?? [];
  const call = (key: string): string =>
    `curl -s -o /dev/null -w '%{http_code} ' --noproxy '*' -H 'content-type: application/json' ` +
    `-H "authorization: Bearer ${key}" -d '{"model":"m-1","messages":[]}' $MILLWRIGHT_AGENT_BASE_URL/chat/completions`;
  await ended([bash([SETTINGS, call(first), call('$MILLWRIGHT_AGENT_API_KEY')].join('; ')), { text: 'Well.' }]);
  expect(first).not.toBe('');
  expect(toldByTools()).toContain('401 200');
}, 240_000);

it('is not reached past the broker, nor with another model or request, and the log says so', async () => {
  const at = '$MILLWRIGHT_AGENT_BASE_URL';
  const call = (path: string, body: string): string =>
    `curl -s --noproxy '*' -H 'content-type: application/json' -H "authorization: Bearer $MILLWRIGHT_AGENT_API_KEY" ` +
    `-d '${body}' ${at}${path}; echo`;
  const run = await ended([
    bash(
      [
        SETTINGS,
        call('/chat/completions', '{"model":"m-2"}'),
        call('/files', '{"model":"m-1"}'),
        `curl -s -o /dev/null -w 'direct %{http_code}\\n' ${model.url}/v1/models`,
      ].join('; '),
    ),
    { text: 'Well.' },
  ]);
  expect(model.requests).toHaveLength(2);
  expect(toldByTools()).toContain('this run was not given the model');
  expect(toldByTools()).toContain('runs may not ask for POST');
  expect(toldByTools()).toMatch(/direct (?:403|000)/);
  const told = (run['log'] as { payload: { text?: string } }[]).map(({ payload }) => payload.text ?? '').join('\n');
  expect(told).toContain('model call refused: this run was not given the model');
}, 240_000);

describe('an agent of the operator that tells of no money', () => {
  const HOUSE: OwnProfile = {
    id: 'house',
    command: SUITE_AGENT.command,
    readOnly: SUITE_AGENT.readOnly,
    mode: 'auto',
    modelVia: { kind: 'option' },
    models: [
      {
        id: 'house',
        apis: ['openai'],
        keys: ['MILLWRIGHT_AGENT_API_KEY'],
        address: { variable: 'MILLWRIGHT_AGENT_BASE_URL' },
        at: 'http://127.0.0.1:9/v1',
        usual: ['*'],
        small: [],
      },
    ],
    prices: [
      { models: 'small-*', input: 1, cachedInput: 1, output: 1, currency: 'EUR' },
      { models: 'm-*', input: 10, cachedInput: 5, output: 20, currency: 'EUR' },
    ],
  };
  const ran = async (more: Record<string, string>): Promise<Record<string, unknown>> => {
    model.script = [bash('true'), { text: 'Done.', usage: { input: 2_000, output: 100, cached: 1_000 } }];
    const own = await bootService({
      profiles: profilesWith([
        {
          ...HOUSE,
          env: { MILLWRIGHT_AGENT_MODEL: 'm-1', MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1` },
          secretEnv: { MILLWRIGHT_AGENT_API_KEY: KEY },
        },
      ]),
      environment: more,
    });
    const runId = await startedRun(own, 'Look around.', { config: { harness: { type: 'house' } } });
    const { body } = await eventually(
      'the run ends',
      async () => {
        const answer = await own.api('GET', `/agent/runs/${runId}`);
        return ENDED.includes(String(answer.body['state'])) ? answer : undefined;
      },
      60_000,
    );
    await own.stop();
    return body;
  };

  it('costs what its calls have used, by the prices of its profile', async () => {
    const run = await ran({});
    // 1000 × 10 + 10 × 20, then 1000 × 10 + 1000 × 5 + 100 × 20, in millionths.
    expect([run['state'], run['request_usage']]).toEqual([
      'SUCCEEDED',
      { total_tokens: 3_110, inference_cost: 0.0272, currency: 'EUR' },
    ]);
  }, 120_000);

  it('is ended with the call that goes beyond its budget', async () => {
    const run = await ran({ MILLWRIGHT_RUN_COST_MAX: '0.01' });
    expect([run['state'], (run['status_message'] as { error_code: string }).error_code]).toEqual([
      'FAILED',
      'budget_exceeded',
    ]);
    expect(model.requests).toHaveLength(1);
  }, 120_000);
});
