/**
 * A POST with an Idempotency-Key runs once: whoever repeats it gets the first answer, and whoever means something else
 * is told. contract §3.2 (Create).
 */
import { makeKey } from '../support/services/api-keys.ts';
import { connectRaw, exchange, requestHead, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

let mill: TestService;
let unique = 0;
/** A key that no other test uses. */
const fresh = (): string => `key-${(unique += 1)}`;

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
});

afterAll(() => mill.stop());

interface Asked {
  path?: string;
  body?: unknown;
  /** The body as it is sent. */
  text?: string;
  as?: string;
}

interface Answered {
  status: number;
  text: string;
  body: Record<string, unknown>;
  replayed: boolean;
  headers: Headers;
}

async function ask(
  idempotencyKey: string | undefined,
  { path = '/agent/runs', body = { prompt: 'x' }, text = JSON.stringify(body), as = mill.adminKey }: Asked = {},
): Promise<Answered> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${as}`,
    'content-type': 'application/json',
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  const answer = await fetch(`${mill.url}/api/v1${path}`, { method: 'POST', headers, body: text });
  const answered = await answer.text();
  return {
    status: answer.status,
    text: answered,
    body: JSON.parse(answered === '' ? '{}' : answered) as Answered['body'],
    replayed: answer.headers.get('idempotent-replayed') === 'true',
    headers: answer.headers,
  };
}

async function runs(): Promise<number> {
  const [{ n } = { n: 0 }] = (await mill.service.database.source.query('SELECT count(*) AS n FROM every_run')) as {
    n: number;
  }[];
  return n;
}

const stored = (): Promise<Record<string, unknown>[]> =>
  mill.service.database.source.query('SELECT * FROM idempotency') as Promise<Record<string, unknown>[]>;

describe('a repetition', () => {
  it('of a create gets the first answer to the byte, and makes no second run', async () => {
    const [key, before] = [fresh(), await runs()];
    const first = await ask(key);
    const second = await ask(key);
    expect([first.status, first.replayed]).toEqual([200, false]);
    expect([second.status, second.text, second.replayed, second.headers.get('content-type')]).toEqual([
      200,
      first.text,
      true,
      first.headers.get('content-type'),
    ]);
    expect(await runs()).toBe(before + 1);
  });

  it('of a follow-up and of a cancel, a bare string, gets the first answer', async () => {
    const { run_id: runId } = (await ask(undefined)).body as { run_id: string };
    for (const [path, body] of [
      [`/agent/runs/${runId}/followups`, { message: 'more' }],
      [`/agent/runs/${runId}/cancel`, undefined],
    ] as const) {
      const key = fresh();
      const send = (): Promise<Answered> => ask(key, { path, text: body === undefined ? '' : JSON.stringify(body) });
      const [first, second] = [await send(), await send()];
      expect([first.status, second.status, second.text, second.replayed]).toEqual([200, 200, first.text, true]);
    }
    const answer = await mill.api('GET', `/agent/runs/${runId}`);
    expect(String(answer.body['submitted_prompt']).match(/more/g)).toHaveLength(1);
  });

  it('in another spelling of the path is none: it is no path at all', async () => {
    const { run_id: runId } = (await ask(undefined)).body as { run_id: string };
    const key = fresh();
    const body = JSON.stringify({ message: 'spelt' });
    const asked = (path: string): Promise<RawAnswer> =>
      exchange(mill.url, {
        method: 'POST',
        target: `/api/v1${path}`,
        headers: [
          ['authorization', `Bearer ${mill.adminKey}`],
          ['content-type', 'application/json'],
          ['idempotency-key', key],
        ],
        body,
      });
    const first = await asked(`/agent/runs/${runId}/followups`);
    expect(first.status).toBe(200);
    const spellings = [
      `/agent/runs/${runId}/%66ollowups`,
      `/%61gent/runs/${runId}/followup%73`,
      `/agent/runs/%${runId.charCodeAt(0).toString(16)}${runId.slice(1)}/followups`,
    ];
    for (const path of spellings) {
      const again = await asked(path);
      expect([path, again.status, again.headers.get('idempotent-replayed')]).toEqual([path, 404, undefined]);
    }
    expect(
      String((await mill.api('GET', `/agent/runs/${runId}`)).body['submitted_prompt']).match(/spelt/g),
    ).toHaveLength(1);
    // A slash that is part of an ID is no slash of the path.
    expect((await asked(`/agent/runs/x%2F${runId}/followups`)).status).toBe(404);
  });

  it('of what was refused for good gets the refusal again', async () => {
    const key = fresh();
    const [first, second] = [await ask(key, { body: { prompt: 5 } }), await ask(key, { body: { prompt: 5 } })];
    expect([first.status, second.status, second.text, second.replayed, second.headers.get('content-type')]).toEqual([
      400,
      400,
      first.text,
      true,
      'application/problem+json; charset=utf-8',
    ]);
  });

  it('of a lasting conflict says again that repeating is in vain', async () => {
    const key = fresh();
    const body = { slug: 'taken', source: { kind: 'git', url: 'https://example.com/r.git' } };
    expect((await ask(undefined, { path: '/factory', body })).status).toBeLessThan(300);
    const [first, second] = [await ask(key, { path: '/factory', body }), await ask(key, { path: '/factory', body })];
    expect([first.status, first.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect([second.status, second.headers.get('x-should-retry'), second.text, second.replayed]).toEqual([
      409,
      'false',
      first.text,
      true,
    ]);
  });

  it(
    'by another API key of the same principal with the same rights is a repetition; with other rights it is not ' +
      'answered',
    async () => {
      const key = fresh();
      const principal = `user_${key}`;
      const [one, twin, lesser, limited] = [
        await makeKey(mill, 'manager', { principal }),
        await makeKey(mill, 'manager', { principal }),
        await makeKey(mill, 'operator', { principal }),
        await makeKey(mill, 'manager', { principal, factories: ['fac_x'] }),
      ];
      const first = await ask(key, { as: one });
      expect(await ask(key, { as: twin })).toMatchObject({ status: 200, text: first.text, replayed: true });
      for (const as of [lesser, limited]) {
        const refused = await ask(key, { as });
        expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false']);
        expect(refused.text).not.toContain(String(first.body['run_id']));
      }
    },
  );
});

describe('something else under the same key', () => {
  it.each<{ why: string; other: Asked }>([
    { why: 'another body', other: { body: { prompt: 'y' } } },
    { why: 'the same value in other bytes', other: { text: '{ "prompt": "x" }' } },
    { why: 'no body', other: { text: '' } },
    { why: 'another query', other: { path: '/agent/runs?x=1' } },
  ])('$why is 409, is not run, and is not to be retried', async ({ other }) => {
    const key = fresh();
    const first = await ask(key);
    const before = await runs();
    const second = await ask(key, other);
    expect([
      second.status,
      second.body['error'],
      second.body['retryable'],
      second.headers.get('x-should-retry'),
    ]).toEqual([409, 'conflict', false, 'false']);
    expect(await runs()).toBe(before);
    expect((await ask(key)).text).toBe(first.text);
  });

  it.each<{ why: string; other: () => Promise<Asked> }>([
    { why: 'another path', other: async () => ({ path: '/agent/run' }) },
    { why: 'another principal', other: async () => ({ as: await makeKey(mill, 'operator') }) },
  ])('$why is another key', async ({ other }) => {
    const key = fresh();
    const first = await ask(key);
    const second = await ask(key, await other());
    expect([second.status, second.replayed]).toEqual([200, false]);
    expect(second.body['run_id']).not.toBe(first.body['run_id']);
  });
});

describe('an answer that held a secret', () => {
  it('is not kept: the repetition names what was made, and makes nothing', async () => {
    const key = fresh();
    const asked = { path: '/api-keys', body: { name: 'once', role: 'viewer' } };
    const first = await ask(key, asked);
    expect(first.status).toBe(200);
    const second = await ask(key, asked);
    expect([second.status, second.body['error'], second.headers.get('x-should-retry'), second.replayed]).toEqual([
      409,
      'conflict',
      'false',
      false,
    ]);
    expect(second.body['resource']).toContain(String(first.body['id']));
    const kept = JSON.stringify(await stored());
    for (const text of [second.text, kept]) expect(text).not.toContain(String(first.body['key']));
    const { body } = await mill.api('GET', '/api-keys?limit=500');
    expect((body['api_keys'] as { name: string }[]).filter(({ name }) => name === 'once')).toHaveLength(1);
  });
});

describe('a create whose answer was lost', () => {
  it('is there once: the answer was stored with the run, before anything else could fail', async () => {
    const [key, before] = [fresh(), await runs()];
    const store = mill.service.runs;
    const create = store.create.bind(store);
    store.create = async (...run) => {
      await create(...run);
      throw new Error('after the commit');
    };
    const first = await ask(key);
    store.create = create;
    expect(first.status).toBe(500);
    const second = await ask(key);
    expect([second.status, second.replayed, Object.keys(second.body)]).toEqual([
      200,
      true,
      expect.arrayContaining(['run_id', 'task_id', 'state']),
    ]);
    expect((await mill.api('GET', `/agent/runs/${String(second.body['run_id'])}`)).status).toBe(200);
    expect(await runs()).toBe(before + 1);
  });
});

describe('at once', () => {
  it('twenty creates with one key make one run and get one answer', async () => {
    const [key, before] = [fresh(), await runs()];
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await runs()).toBe(before + 1);
  });

  it('twenty creates with twenty keys make twenty runs', async () => {
    const before = await runs();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(fresh())));
    expect(new Set(answers.map(({ body }) => body['run_id'])).size).toBe(20);
    expect(await runs()).toBe(before + 20);
  });
});

describe('what is not kept', () => {
  it.each<{ why: string; asked: () => Promise<Asked>; status: number }>([
    { why: 'a refusal of the key’s role', asked: async () => ({ as: await makeKey(mill, 'viewer') }), status: 403 },
    { why: 'no authentication', asked: async () => ({ as: `mw_${'x'.repeat(43)}` }), status: 401 },
    { why: 'a body of the wrong type', asked: async () => ({ path: '/nothing' }), status: 404 },
  ])('$why leaves no trace of the key', async ({ asked, status }) => {
    const key = fresh();
    expect((await ask(key, await asked())).status).toBe(status);
    expect((await stored()).filter((row) => row['idempotency_key'] === key)).toEqual([]);
  });

  it('a fault: the next request runs', async () => {
    const broken = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    try {
      const send = (): Promise<RawAnswer> =>
        exchange(broken.url, {
          target: '/api/v1/agent/runs',
          headers: [
            ['Authorization', `Bearer ${broken.adminKey}`],
            ['Content-Type', 'application/json'],
            ['Idempotency-Key', 'one'],
          ],
          body: '{"prompt": "x"}',
        });
      await broken.service.database.source.query('ALTER TABLE run RENAME TO hidden');
      expect((await send()).status).toBe(500);
      await broken.service.database.source.query('ALTER TABLE hidden RENAME TO run');
      const answers = [await send(), await send()];
      expect(answers.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
        [200, undefined],
        [200, 'true'],
      ]);
    } finally {
      await broken.stop();
    }
  });

  it('the name of the key stands in no log line', async () => {
    const key = 'a-key-that-nobody-may-read';
    await ask(key);
    await ask(key, { body: { prompt: 'z' } });
    expect(mill.logged.join('\n')).not.toContain(key);
  });
});

describe('the header', () => {
  it.each<{ why: string; value: string; accepted: boolean }>([
    { why: 'one character', value: 'k', accepted: true },
    { why: '255 characters', value: 'k'.repeat(255), accepted: true },
    { why: 'every visible character', value: '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', accepted: true },
    { why: '256 characters', value: 'k'.repeat(256), accepted: false },
    { why: 'nothing', value: '', accepted: false },
    { why: 'a space', value: 'a b', accepted: false },
    { why: 'beyond ASCII', value: 'caf\u00e9', accepted: false },
  ])('$why: $accepted', async ({ value, accepted }) => {
    const answer = await exchange(mill.url, {
      target: '/api/v1/agent/runs',
      headers: [
        ['Authorization', `Bearer ${mill.adminKey}`],
        ['Content-Type', 'application/json'],
        ['Idempotency-Key', value],
      ],
      body: '{"prompt": "x"}',
    });
    expect(answer.status).toBe(accepted ? 200 : 400);
    if (!accepted)
      expect(
        (JSON.parse(answer.body) as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer),
      ).toEqual(['Idempotency-Key']);
  });

  it('twice is refused: which one?', async () => {
    const answer = await exchange(mill.url, {
      target: '/api/v1/agent/runs',
      headers: [
        ['Authorization', `Bearer ${mill.adminKey}`],
        ['Content-Type', 'application/json'],
        ['Idempotency-Key', 'a'],
        ['Idempotency-Key', 'b'],
      ],
      body: '{"prompt": "x"}',
    });
    expect(answer.status).toBe(400);
  });

  it('means nothing to a method that can be repeated anyway', async () => {
    const get = (): Promise<Response> =>
      fetch(`${mill.url}/api/v1/agent/runs`, {
        headers: { authorization: `Bearer ${mill.adminKey}`, 'idempotency-key': 'not a key' },
      });
    expect((await get()).status).toBe(200);
    const put = (value: string): Promise<Response> =>
      fetch(`${mill.url}/api/v1/secrets/idempotent`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${mill.adminKey}`,
          'content-type': 'application/json',
          'idempotency-key': 'same',
        },
        body: JSON.stringify({ value }),
      });
    expect([(await put('first-value-of-length')).status, (await put('other-value-of-length')).status]).toEqual([
      200, 200,
    ]);
  });
});

it('a client that goes away does not undo its request: the repetition gets the answer', async () => {
  const [key, before] = [fresh(), await runs()];
  const connection = await connectRaw(mill.url);
  const body = '{"prompt": "x"}';
  connection.send(
    requestHead(mill.url, {
      target: '/api/v1/agent/runs',
      headers: [
        ['Authorization', `Bearer ${mill.adminKey}`],
        ['Content-Type', 'application/json'],
        ['Idempotency-Key', key],
      ],
      declared: body.length,
    }) + body,
  );
  await new Promise((resolve) => setTimeout(resolve, 1));
  connection.socket.resetAndDestroy();
  const answer = await ask(key, { text: body });
  expect(answer.status).toBe(200);
  expect(await runs()).toBe(before + 1);
});
