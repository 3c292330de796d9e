/**
 * Requests that are made to cost: bodies full of faults, many at once, streams of a key that is gone. contract §2, §3.
 */
import { insert } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

let service: TestService;
let factory: string;
beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  factory = String(
    (await service.api('POST', '/factory', { slug: 'floods', source: { kind: 'dashboard' } })).body['uid'],
  );
});
afterAll(() => service.stop());

/** Bytes of an answer that names faults: people read no more. */
const ANSWER_BYTES_MAX = 64 * 1_024;

it.each([
  {
    path: '/agent/runs',
    body: () => ({ prompt: 'x', attachments: Array.from({ length: 1_000_000 }, () => 1) }),
    why: 'a million attachments that are none',
  },
  {
    path: '/agent/runs',
    body: () => ({ prompt: 'x', attachments: Array.from({ length: 500_000 }, () => ({})) }),
    why: 'half a million empty ones',
  },
  {
    path: '/agent/runs',
    body: () => ({
      prompt: 'x',
      metadata: Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`a key ${at}`, 1])),
    }),
    why: 'metadata full of bad entries',
  },
  {
    path: '/agent/runs',
    body: () => ({ prompt: 'x', config: { secrets: Array.from({ length: 200_000 }, () => 1) } }),
    why: 'secrets that are none',
  },
  {
    path: () => `/factory/${factory}/plan`,
    body: () => ({ files: Array.from({ length: 400_000 }, () => 1) }),
    why: 'files that are none',
  },
  {
    path: () => `/factory/${factory}/filters/test`,
    body: () => ({ filter: {}, payload: 1, webhook_uids: Array.from({ length: 400_000 }, () => 1) }),
    why: 'webhooks that are none',
  },
  {
    path: '/factory-files/validate',
    body: () => ({ files: [], secrets: Array.from({ length: 300_000 }, () => 1) }),
    why: 'secret names that are none',
  },
])('$why: one short refusal', async ({ path, body }) => {
  const answer = await fetch(`${service.url}/api/v1${typeof path === 'string' ? path : path()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body()),
  });
  expect(answer.status).toBe(400);
  expect((await answer.text()).length).toBeLessThan(ANSWER_BYTES_MAX);
});

it('a key that is revoked hears nothing more of a stream, however much of the log is left', async () => {
  const key = await makeKey(service, 'viewer', { factories: [factory] });
  const runId = String(
    (await service.api('POST', '/agent/runs', { prompt: 'x', factory_uid: factory })).body['run_id'],
  );
  const page = 2_000;
  const body = JSON.stringify({ text: 'x'.repeat(16_000) });
  await service.service.database.run(() =>
    insert(
      'run_event',
      ['run_id', 'seq', 'execution_id', 'at', 'kind', 'body'],
      Array.from({ length: page }, (_, at) => [runId, at + 1, null, 1, 'stdout', body]),
    ),
  );
  const answer = await fetch(`${service.url}/api/v1/agent/runs/${runId}/events`, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
  });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  const { keys } = {
    keys: (await service.api('GET', '/api-keys?limit=100')).body['api_keys'] as {
      id: string;
      hint: string;
      factories: string[] | null;
    }[],
  };
  const own = keys.find(({ factories }) => factories?.includes(factory));
  expect((await service.api('DELETE', `/api-keys/${own?.id}`)).status).toBe(204);
  // the answer to whether the key may look is believed that long
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  let bytes = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) bytes += piece.value.length;
  expect(bytes).toBeLessThan((page * body.length) / 2);
});

it('a run that refers to another factory’s names it to nobody who may not see that one', async () => {
  const other = String(
    (await service.api('POST', '/factory', { slug: 'other', source: { kind: 'dashboard' } })).body['uid'],
  );
  const parent = String((await service.api('POST', '/agent/runs', { prompt: 'x', factory_uid: other })).body['run_id']);
  const child = String(
    (
      await service.api('POST', '/agent/runs', {
        prompt: 'y',
        factory_uid: factory,
        parent_run_id: parent,
        conversation_id: parent,
      })
    ).body['run_id'],
  );
  const key = await makeKey(service, 'viewer', { factories: [factory] });
  const seen = [
    `/agent/runs/${child}`,
    `/agent/runs/${child}/conversation`,
    '/agent/runs',
    `/agent/runs/${child}/timeline`,
  ];
  for (const path of seen)
    expect(JSON.stringify((await service.api('GET', path, undefined, key)).body)).not.toContain(parent);
  expect((await service.api('GET', `/agent/runs/${child}`)).body).toMatchObject({
    parent_run_id: parent,
    conversation_id: parent,
  });
});

it('a factory that got a repository names the files to be written, and shows none until they are', async () => {
  const uid = String(
    (await service.api('POST', '/factory', { slug: 'moved', source: { kind: 'dashboard' } })).body['uid'],
  );
  const made = await service.api('POST', `/factory/${uid}/webhooks`, { name: 'Builds' });
  const webhook = `/factory/${uid}/webhooks/${made.body['uid'] as string}`;
  expect(
    (await service.api('PATCH', `/factory/${uid}`, { source: { kind: 'directory', path: '/nonexistent' } })).status,
  ).toBe(200);
  await eventually('the factory is managed', async () =>
    (await service.api('GET', `/factory/${uid}`)).body['definitions_managed'] === true ? true : undefined,
  );
  expect((await service.api('GET', webhook)).body).toMatchObject({ file: null });
  expect(await service.api('PATCH', webhook, { enabled: false })).toMatchObject({
    status: 409,
    body: { file: 'webhooks/builds.yaml', key: 'enabled' },
  });
});
