/** What people see of a run after its events and files were removed: less, and nothing that breaks. contract §3.1. */
import { artifactSweep, eventSweep } from '../../apps/server/store/retention/run-sweeps.ts';
import { change } from '../../apps/server/store/database/transactions.ts';
import { SweepStore } from '../../apps/server/store/retention/sweeps.ts';
import { Sweeper } from '../../apps/server/retention/sweeper.ts';
import { openStream } from '../support/network/event-stream.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, logOf, SHELL, startedRun } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const DAY_MS = 86_400_000;

let service: TestService;
let runId: string;
let artifactUid: string;

beforeAll(async () => {
  service = await bootService({
    environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '2', MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  runId = await startedRun(
    service,
    'mkdir -p "$MILLWRIGHT_ARTIFACTS"; echo made > "$MILLWRIGHT_ARTIFACTS/file.txt"; for i in 1 2 3 4 5; do ' +
      'echo "line $i"; sleep 0.05; done',
  );
  const ended = await runIn(service, runId, ...ENDED);
  artifactUid = (ended['artifacts'] as { artifact_uid: string }[])[0]?.artifact_uid ?? '';
});

afterAll(() => service.stop());

it('a run that ended long ago has its end and what was asked, and its files are gone', async () => {
  expect((await service.api('GET', `/agent/artifacts/${artifactUid}`)).status).toBe(200);
  const { database } = service.service;
  const log = await logOf(service, runId);
  const timeline = await service.api('GET', `/agent/runs/${runId}/timeline`);
  await database.run(() => change('UPDATE run SET updated_at = updated_at - ? WHERE run_id = ?', 91 * DAY_MS, runId));
  await new Sweeper(new SweepStore(database, 'test'), [eventSweep(90, 'sqlite'), artifactSweep(90, 'sqlite')], {
    stepMs: 8,
    monotonicMs: () => performance.now(),
    pause: async () => undefined,
    report: (fault) => {
      throw fault;
    },
  }).ask();

  expect(await logOf(service, runId)).toEqual(log.slice(-1));
  expect(log.length).toBeGreaterThan(1);
  const stream = await openStream(service, runId);
  await stream.ended;
  expect(stream.events.map(({ event, id }) => [event, id])).toEqual([
    ['status', String(log.at(-1)?.seq)],
    ['state', undefined],
  ]);

  expect((await service.api('GET', `/agent/runs/${runId}/timeline`)).body).toEqual(timeline.body);
  const { body } = await service.api('GET', `/agent/runs/${runId}/conversation`);
  expect(
    (body['steps'] as { messages: { role: string }[] }[]).flatMap(({ messages }) => messages.map(({ role }) => role)),
  ).toEqual(['user']);

  const { status, body: run } = await service.api('GET', `/agent/runs/${runId}`);
  expect([status, run['state'], run['artifacts'] ?? []]).toEqual([200, 'SUCCEEDED', []]);
  for (const path of ['', '/download']) {
    const { status: answered } = await fetch(`${service.url}/api/v1/agent/artifacts/${artifactUid}${path}`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    expect(answered).toBe(404);
  }
});
