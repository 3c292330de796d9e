/**
 * What only clients of the hosted service ask for: a run by its ticket, transcripts, follow-ups to conversations, files
 * of ended runs, schedules. contract §3.11 (Published clients).
 */
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, SHELL, startedRun } from '../support/runs/runs.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const NOWHERE = '00000000-0000-7000-8000-000000000000';
const TICKET = 'https://tracker.example/birds/7?view=all&x=%20';
let service: TestService;
let folder: FactoryFolder;
let birds: string;
/** Sees factories that are not this one. */
let stranger: string;

beforeAll(async () => {
  service = await bootService({ environment: { ...SHELL, MILLWRIGHT_SYNC_INTERVAL: '3600' } });
  folder = await factoryFolder({});
  await folder.writeFile(
    'automations/nightly/automation.md',
    '---\nmodel: large\ntriggers:\n' +
      '  - {provider: schedule, event: cron_fired, schedule: {name: early, cron: "0 9 * * *"}}\n' +
      '  - {provider: schedule, event: cron_fired, schedule: {cron: "0 21 * * *"}}\n---\nLook.\n',
  );
  birds = await service.factory('birds', folder.source);
  stranger = await makeKey(service, 'operator', { factories: ['fac_00000000000000000000000001'] });
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const dispatched = async (): Promise<string> =>
  String(
    (await service.api('POST', `/factory/${birds}/runs`, { prompt: 'echo x >artifacts/x.txt', ticket_url: TICKET }))
      .body['run_id'],
  );
const byTicket = (key?: string): ReturnType<TestService['api']> =>
  service.api('GET', `/agent/run-by-external-reference?url=${encodeURIComponent(TICKET)}`, undefined, key);

describe('the run of a ticket', () => {
  it('is the one that was dispatched last, for who may see it', async () => {
    expect((await byTicket()).status).toBe(404);
    await runIn(service, await dispatched(), ...ENDED);
    const last = await dispatched();
    expect((await byTicket()).body).toEqual({ run_id: last });
    expect((await byTicket(stranger)).status).toBe(404);
  });

  it('cannot be asked for without an address', async () => {
    expect((await service.api('GET', '/agent/run-by-external-reference')).status).toBe(400);
  });
});

describe('a transcript', () => {
  const transcript = (path: string, key = service.adminKey): Promise<Response> =>
    fetch(`${service.url}/api/v1/agent/${path}/transcript`, { headers: { authorization: `Bearer ${key}` } });

  it('is the conversation, a step a line, by its run or itself', async () => {
    const runId = await startedRun(service, 'echo heron');
    await runIn(service, runId, ...ENDED);
    const answer = await transcript(`runs/${runId}`);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
    const text = await answer.text();
    const { body } = await service.api('GET', `/agent/runs/${runId}/conversation`);
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(body['steps']);
    expect(text).toContain('heron');
    expect(await (await transcript(`conversations/${runId}`)).text()).toBe(text);
    for (const path of [`runs/${runId}`, `conversations/${runId}`])
      expect((await transcript(path, stranger)).status).toBe(404);
  });

  it.each(['runs', 'conversations'])('of %s that are not there is 404', async (kind) => {
    expect((await transcript(`${kind}/${NOWHERE}`)).status).toBe(404);
  });
});

describe('a follow-up to a conversation', () => {
  it('goes to its latest run, once for an idempotency key', async () => {
    const first = await startedRun(service, 'true');
    await runIn(service, first, ...ENDED);
    const second = await startedRun(service, 'true', { conversation_id: first });
    await runIn(service, second, ...ENDED);
    const sent = async (): Promise<unknown> =>
      (
        await fetch(`${service.url}/api/v1/agent/conversations/${first}/followups`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${service.adminKey}`,
            'content-type': 'application/json',
            'idempotency-key': 'only-once',
          },
          body: '{"message": "true"}',
        })
      ).json();
    const answer = await sent();
    expect(answer).toEqual({ run_id: second, followup_id: expect.any(String), outcome: 'handoff_execution' });
    expect(await sent()).toEqual(answer);
  });

  it('finds no conversation that is not there or that the key may not see', async () => {
    const runId = await startedRun(service, 'true');
    for (const [id, key] of [[NOWHERE] as const, [runId, stranger] as const])
      expect((await service.api('POST', `/agent/conversations/${id}/followups`, { message: 'x' }, key)).status).toBe(
        404,
      );
  });
});

it('files of a run can be taken over once it has ended, and nothing is known of its harness', async () => {
  const runId = await startedRun(service, 'echo x >artifacts/x.txt');
  await runIn(service, runId, ...ENDED);
  expect((await service.api('GET', `/agent/runs/${runId}/handoff/attachments`)).body).toEqual({
    attachments: [
      {
        attachment_id: expect.any(String),
        filename: 'x.txt',
        mime_type: 'text/plain',
        download_url: expect.stringMatching(/\/download$/),
      },
    ],
  });
  expect((await service.api('GET', `/agent/runs/${runId}/harness-usage`)).body).toEqual({
    available: false,
    conversation_id: runId,
    run_id: runId,
  });
  for (const what of ['handoff/attachments', 'harness-usage'])
    expect((await service.api('GET', `/agent/runs/${runId}/${what}`, undefined, stranger)).status).toBe(404);
});

describe('schedules', () => {
  it('are the schedule triggers of automations, with their file', async () => {
    const { schedules } = (await service.api('GET', '/agent/schedules')).body as { schedules: { id: string }[] };
    expect(schedules).toMatchObject([
      {
        name: 'early',
        cron_schedule: '0 9 * * *',
        enabled: true,
        prompt: 'Look.',
        agent_config: { model_id: 'large' },
        metadata: { factory_uid: birds, file: 'automations/nightly/automation.md' },
        history: { next_run: expect.stringMatching(/T09:00:00\.000Z$/) },
      },
      { name: 'nightly', cron_schedule: '0 21 * * *' },
    ]);
    for (const schedule of schedules)
      expect((await service.api('GET', `/agent/schedules/${schedule.id}`)).body).toEqual(schedule);
  });

  it('are not there for who may not see their factory, and are changed in their file', async () => {
    const [schedule] = (await service.api('GET', '/agent/schedules')).body['schedules'] as { id: string }[];
    expect((await service.api('GET', '/agent/schedules', undefined, stranger)).body).toEqual({ schedules: [] });
    expect((await service.api('GET', `/agent/schedules/${schedule?.id}`, undefined, stranger)).status).toBe(404);
    expect(await service.api('POST', `/agent/schedules/${schedule?.id}/pause`)).toMatchObject({
      status: 501,
      body: { error: 'operation_not_supported', detail: expect.stringContaining('files') },
    });
  });
});
