/**
 * What an agent reports as its results is kept, and nothing that it tells of a secret reaches anybody. contract §3.1
 * (artifacts), §10.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeModelServer, type FakeModelServer, type Reply } from '../support/models/fake-model-server.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { ENDED, logOf } from '../support/runs/runs.ts';
import { openStream } from '../support/network/event-stream.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const SECRET = 'sk-4711/"quoted"+value';
let model: FakeModelServer;
let service: TestService;
let folder: FactoryFolder;
let ours: string;

beforeAll(async () => {
  model = await startFakeModelServer([]);
  service = await bootService({
    environment: {
      MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'fake-1',
      MILLWRIGHT_AGENT_API_KEY: 'model-key-0815-model-key',
      MILLWRIGHT_RUN_ALLOW_HOSTS: new URL(model.url).host,
      MILLWRIGHT_ALLOW_UNSANDBOXED: 'true',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
    },
  });
  folder = await factoryFolder({});
  ours = await service.factory('ours', folder.source);
  await service.api('PUT', '/secrets/DEPLOY_TOKEN', {
    value: SECRET,
    grants: { uses: ['run'], runs: '*', factories: [ours] },
  });
});
afterAll(async () => {
  await service.stop();
  await model.close();
  await folder.remove();
});

const bash = (command: string): { name: string; input: unknown } => ({ name: 'bash', input: { command } });
const report = (input: Record<string, unknown>): { name: string; input: unknown } => ({
  name: 'report_artifact',
  input,
});
const started = async (script: Reply[], prompt = 'Act.'): Promise<string> => {
  model.script = script;
  const answer = await service.api('POST', '/agent/runs', {
    prompt,
    factory_uid: ours,
    config: { harness: { type: 'builtin' }, secrets: [{ name: 'DEPLOY_TOKEN' }] },
  });
  return String(answer.body['run_id']);
};
const ended = (runId: string): Promise<Record<string, unknown>> =>
  eventually(
    'the run has ended',
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return ENDED.includes(String(body['state'])) ? body : undefined;
    },
    120_000,
  );
const statuses = async (runId: string): Promise<string> =>
  (await logOf(service, runId))
    .filter(({ event_type: kind }) => kind === 'status')
    .map(({ payload }) => payload.text ?? '')
    .join('\n');

it('keeps what it reports: files anywhere in the workspace, each once; plans, links to pull requests', async () => {
  const runId = await started([
    {
      tools: [
        bash(
          'mkdir -p "src/deep dir" && printf "# Move it\\n" >src/plan.txt && echo x >"src/deep dir/out.csv" && ' +
            'echo done >report.md && echo y >artifacts/extra.txt',
        ),
      ],
    },
    {
      tools: [
        report({ type: 'PLAN', path: 'src/plan.txt' }),
        report({ type: 'FILE', path: 'src/deep dir/out.csv', title: 'The numbers' }),
        report({ type: 'FILE', path: 'report.md', title: 'Report' }),
        report({
          type: 'PULL_REQUEST',
          url: 'https://forge.example/acme/app/pull/7',
          branch: 'fix/it',
          title: 'Fix it',
        }),
        report({ type: 'PULL_REQUEST', url: 'https://forge.example/acme/app/pull/8' }),
      ],
    },
    { text: 'Done.' },
  ]);
  const item = await ended(runId);
  expect(item['state']).toBe('SUCCEEDED');
  expect(
    (item['artifacts'] as { artifact_type: string; data: Record<string, unknown> }[]).map(
      ({ artifact_type: type, data: { title, filepath, url, branch } }) => [type, filepath ?? url, title, branch],
    ),
  ).toEqual([
    ['PULL_REQUEST', 'https://forge.example/acme/app/pull/7', 'Fix it', 'fix/it'],
    ['PULL_REQUEST', 'https://forge.example/acme/app/pull/8', '/acme/app/pull/8', ''],
    ['PLAN', 'src/plan.txt', 'plan.txt', undefined],
    ['FILE', 'src/deep_dir/out.csv', 'The numbers', undefined],
    ['FILE', 'report.md', 'Report', undefined],
    ['FILE', 'artifacts/extra.txt', undefined, undefined],
  ]);
}, 120_000);

it('keeps nothing reported that is not there, not in the workspace, or no file of its own any more', async () => {
  const runId = await started([
    {
      tools: [
        bash(
          'mkdir way && echo x >way/in.txt && echo x >gone.txt && echo x >linked.txt && echo x >two.txt && echo ' +
            'x >"$TMPDIR/outside.txt" && echo ok >good.txt; echo "$TMPDIR" >tmp.txt',
        ),
      ],
    },
    {
      tools: ['way/in.txt', 'gone.txt', 'linked.txt', 'two.txt', 'good.txt'].map((path) =>
        report({ type: 'FILE', path }),
      ),
    },
    {
      tools: [
        bash(
          'rm gone.txt linked.txt && ln -s /etc/passwd linked.txt && ln two.txt three.txt && mv way real && ln ' +
            '-s real way',
        ),
      ],
    },
    { text: 'Done.' },
  ]);
  const item = await ended(runId);
  expect((item['artifacts'] as { data: Record<string, unknown> }[]).map(({ data }) => data['filepath'])).toEqual([
    'good.txt',
  ]);
  const said = await statuses(runId);
  for (const message of [
    'what leads to it is no folder',
    'gone.txt is not kept: it was reported, and is not there',
    'linked.txt is not kept: it is a symbolic link',
    'two.txt is not kept: it is a hard link',
  ])
    expect(said).toContain(message);
}, 120_000);

it(
  'a secret that is told in every place and form is nowhere: not in answers, streams, the database, or the log of ' +
    'the service',
  async () => {
    const bytes = Buffer.from(SECRET);
    const forms = [
      SECRET,
      bytes.toString('base64'),
      bytes.toString('base64url'),
      bytes.toString('hex'),
      encodeURIComponent(SECRET),
    ];
    const key = 'model-key-0815-model-key';
    const inName = bytes.toString('base64url');
    const runId = await started([
      {
        reasoning: `I think of ${forms.join(' ')}`,
        text: `It is ${forms.join(' ')} and ${key}`,
        tools: [
          bash(
            `mkdir -p artifacts; echo "$DEPLOY_TOKEN" | tee plain.txt; echo x >artifacts/${inName}; printf %s ` +
              '"$DEPLOY_TOKEN" | base64 >artifacts/hidden; echo fine >artifacts/fine; printf %s "$DEPLOY_TOKEN" ' +
              `>&2; echo ${key}`,
          ),
        ],
      },
      {
        tools: [
          { name: 'plan', input: { entries: forms.map((form) => ({ content: `use ${form}`, status: 'pending' })) } },
          report({ type: 'PULL_REQUEST', url: `https://forge.example/?token=${encodeURIComponent(SECRET)}` }),
          report({ type: 'PULL_REQUEST', url: 'https://forge.example/1', title: `T ${SECRET}` }),
          report({ type: 'PULL_REQUEST', url: 'https://forge.example/2', branch: `b-${inName}` }),
          report({ type: 'FILE', path: 'plain.txt' }),
          report({ type: 'FILE', path: `artifacts/${inName}` }),
          report({ type: 'FILE', path: 'artifacts/fine', title: SECRET }),
          { name: `tool-${inName}`, input: { [SECRET]: SECRET } },
          { name: 'read', input: { path: SECRET } },
        ],
      },
      { text: 'Done.' },
    ]);
    const stream = await openStream(service, runId);
    const item = await ended(runId);
    expect([item['state'], item['artifacts']]).toEqual(['SUCCEEDED', undefined]);
    await stream.ended;
    const streamed = JSON.stringify(stream.events);
    const answers = JSON.stringify(item) + streamed + service.logged.join('');
    const files = await Promise.all(
      (await readdir(service.dataDir))
        .filter((name) => name.startsWith('millwright.sqlite'))
        .map((name) => readFile(join(service.dataDir, name), 'latin1')),
    );
    expect([files.length > 0, files.join('').includes('use [redacted]'), streamed.includes('[redacted]')]).toEqual([
      true,
      true,
      true,
    ]);
    for (const form of [...forms, JSON.stringify(SECRET).slice(1, -1), key])
      expect([answers.includes(form), files.join('').includes(form)]).toEqual([false, false]);

    const home = join(service.dataDir, 'runs', runId, 'home/.millwright-agent');
    const [transcript = ''] = await readdir(home);
    const conversation = await readFile(join(home, transcript), 'utf8');
    expect(conversation).toContain('[redacted]');
    for (const form of [...forms, JSON.stringify(SECRET).slice(1, -1), key])
      expect([form, conversation.includes(form)]).toEqual([form, false]);
    model.script = [{ text: 'It goes on.' }]; // and no request is remembered of before
    await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'Go on.' });
    await eventually('the conversation goes on', () => (model.requests.length > 0 ? true : undefined), 60_000);
    const told = JSON.stringify(model.requests[0]?.messages);
    expect([told.includes('Go on.'), told.includes('[redacted]'), told.includes(forms[0] ?? '')]).toEqual([
      true,
      true,
      false,
    ]);
  },
  120_000,
);
