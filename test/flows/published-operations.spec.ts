/**
 * What only clients of the hosted service ask for: a run by its ticket, transcripts, follow-ups to conversations, files
 * of ended runs. contract §3.11 (Published clients).
 */
import { readFile } from 'node:fs/promises';
import { HOSTED_METHODS, NAMED_REQUESTS } from '#contracts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, outputOf, pointersOf, SHELL, startedRun } from '../support/runs/runs.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const NOWHERE = '00000000-0000-7000-8000-000000000000';
const GUIDE_TABLE = new URL('../../apps/guide/reference/generated/hosted-methods.md', import.meta.url);
const TICKET = 'https://tracker.example/birds/7?view=all&x=%20';
let service: TestService;
let folder: FactoryFolder;
let birds: string;
/** Sees factories that are not this one. */
let stranger: string;

beforeAll(async () => {
  service = await bootService({ environment: { ...SHELL, MILLWRIGHT_SYNC_INTERVAL: '3600' } });
  folder = await factoryFolder({});
  birds = await service.factory('birds', folder.source);
  stranger = await makeKey(service, 'operator', { factories: ['fac_00000000000000000000000001'] });
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const MAKES_FILE = { prompt: 'echo x >artifacts/x.txt' };
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

  it('takes files that a run has made, by their IDs, with and without a message', async () => {
    const runId = await startedRun(service, 'echo heron >artifacts/x.txt');
    await runIn(service, runId, ...ENDED);
    const { body } = await service.api('GET', `/agent/runs/${runId}/handoff/attachments`);
    const [{ attachment_id: id }] = body['attachments'] as [{ attachment_id: string }];
    const file = { attachment_id: id, file_name: 'last report.txt' };
    const follow = (more: object, key?: string): ReturnType<TestService['api']> =>
      service.api('POST', `/agent/conversations/${runId}/followups`, { attachments: [file], ...more }, key);
    expect((await follow({ message: 'cat "attachments/last report.txt"' })).status).toBe(200);
    await runIn(service, runId, ...ENDED);
    expect(await outputOf(service, runId)).toContain('heron');
    expect((await follow({})).status).toBe(200);
    await runIn(service, runId, ...ENDED);
    expect(JSON.stringify((await service.api('GET', `/agent/runs/${runId}/conversation`)).body)).toContain(
      'Look at the files that come with this.',
    );
    const unknown = await follow({ attachments: [file, { attachment_id: NOWHERE }] });
    expect({ status: unknown.status, pointers: pointersOf(unknown) }).toEqual({
      status: 422,
      pointers: ['/attachments/1/attachment_id'],
    });
  });

  it('has no file of a run that the key may not see', async () => {
    const runId = String((await service.api('POST', `/factory/${birds}/runs`, MAKES_FILE)).body['run_id']);
    await runIn(service, runId, ...ENDED);
    const { body } = await service.api('GET', `/agent/runs/${runId}/handoff/attachments`);
    const [{ attachment_id: id }] = body['attachments'] as [{ attachment_id: string }];
    const made = await service.api('POST', '/factory', { slug: 'swans', source: { kind: 'dashboard' } });
    const swans = String(made.body['uid']);
    const other = await startedRun(service, 'true', { factory_uid: swans });
    const key = await makeKey(service, 'operator', { factories: [swans] });
    const answer = await service.api(
      'POST',
      `/agent/runs/${other}/followups`,
      { message: 'x', attachments: [{ attachment_id: id }] },
      key,
    );
    expect({ status: answer.status, pointers: pointersOf(answer) }).toEqual({
      status: 422,
      pointers: ['/attachments/0/attachment_id'],
    });
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

it('an image of a conversation is its screenshot, and nothing else is', async () => {
  const runId = await startedRun(service, 'printf image >artifacts/page.png; echo x >artifacts/x.txt');
  await runIn(service, runId, ...ENDED);
  const { attachments } = (await service.api('GET', `/agent/runs/${runId}/handoff/attachments`)).body;
  const idOf = (name: string): string =>
    String(
      (attachments as { attachment_id: string; filename: string }[]).find((made) => made.filename === name)
        ?.attachment_id,
    );
  const asked = (conversation: string, artifact: string, key = service.adminKey): Promise<Response> =>
    fetch(`${service.url}/api/v1/agent/conversations/${conversation}/screenshots/${artifact}/download`, {
      headers: { authorization: `Bearer ${key}` },
    });
  const answer = await asked(runId, idOf('page.png'));
  expect([answer.status, await answer.text()]).toEqual([200, 'image']);
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="page.png"');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  const other = await startedRun(service, 'true');
  for (const [conversation, artifact, key] of [
    [runId, idOf('x.txt')],
    [other, idOf('page.png')],
    [NOWHERE, idOf('page.png')],
    [runId, NOWHERE],
    [runId, idOf('page.png'), stranger],
  ] as const)
    expect((await asked(conversation, artifact, key)).status).toBe(404);
});

it('what is not served is no failure of the service', async () => {
  expect((await service.api('GET', `/factory/${birds}/tasks`)).status).toBe(501);
  const table = await readFile(GUIDE_TABLE, 'utf8');
  for (const { method, path, reason } of [...HOSTED_METHODS, ...NAMED_REQUESTS]) {
    if (reason === undefined) continue;
    const target = path.replaceAll(/\{\w+\}/g, 'any');
    expect(await service.api(method, target, method === 'GET' ? undefined : {})).toMatchObject({
      status: 501,
      body: { error: 'operation_not_supported', detail: `not served here: ${reason}` },
    });
    expect(table).toContain(`\`${method} ${path}\``);
    expect(table).toContain(`501: ${reason}`);
  }
  expect(service.logged.filter((line) => line.includes('request failed'))).toEqual([]);
});
