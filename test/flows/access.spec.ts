/**
 * Who may do what: keys, roles, keys limited to factories, and the answers to malformed requests. contract §2, §3.10
 * (Errors).
 */
import { connect } from 'node:net';
import { makeKey } from '../support/services/api-keys.ts';
import {
  automationFile,
  automationPath,
  deliver,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';
import type { Role } from '../../apps/server/store/access/access.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const ROLES: Role[] = ['viewer', 'operator', 'manager', 'admin'];
let git: GitServer;
let service: TestService;
let ours: string;
let theirs: string;
const keys = new Map<string, string>();

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_RUN_CONCURRENCY: '0',
    },
  });
  await service.secret('hook-token', TOKEN);
  const following = async (slug: string): Promise<string> => {
    git.createRepository(slug).commit({
      [webhookPath('orders')]: webhookFile('hook-token'),
      [automationPath('triage')]: automationFile(['orders']),
    });
    return service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main' });
  };
  [ours, theirs] = [await following('ours'), await following('theirs')];
  for (const role of ROLES) {
    keys.set(role, await makeKey(service, role));
    keys.set(`limited ${role}`, await makeKey(service, role, { factories: [ours] }));
  }
  await deliver(service.ingressUrl('theirs', 'orders'), TOKEN);
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

const as = (who: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  service.api(method, path, body, keys.get(who));

function expectProblem(answer: ApiAnswer, status: number, error: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toContain('application/problem+json');
  expect(answer.body).toMatchObject({
    status,
    error,
    type: `${service.url}/errors/${error.replaceAll('_', '-')}`,
    title: expect.any(String),
    detail: expect.any(String),
    trace_id: expect.any(String),
    errors: expect.any(Array),
  });
}

describe('without a valid key', () => {
  const bad: [string, string | undefined, string][] = [
    ['no header', undefined, 'nothing to check'],
    ['an empty one', '', 'nothing to check'],
    ['another scheme', 'Basic bXc6bXc=', 'only Bearer'],
    ['no such key', `Bearer mw_${'A'.repeat(43)}`, 'unknown'],
    ['a key without its prefix', `Bearer ${'A'.repeat(43)}`, 'no key of ours'],
    ['two keys', `Bearer mw_${'A'.repeat(43)}, Bearer mw_${'B'.repeat(43)}`, 'which one?'],
    ['an endless key', `Bearer mw_${'A'.repeat(4000)}`, 'longer than any key'],
  ];
  it.each(bad)('(%s) every route is 401, also those that do not exist', async (_what, authorization, why) => {
    expect(why).not.toBe('');
    for (const [method, path] of [
      ['GET', '/agent/runs'],
      ['POST', '/agent/runs'],
      ['GET', '/secrets'],
      ['GET', '/no/such/route'],
      ['DELETE', '/factory/x'],
      ['GET', ''],
    ] as const) {
      const answer = await fetch(`${service.url}/api/v1${path}`, {
        method,
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      const text = await answer.text();
      expect(text).not.toContain('AAAA');
    }
  });

  it('that was revoked or has run out is 401', async () => {
    const gone = [
      await makeKey(service, 'admin', { revokedAtMs: 1 }),
      await makeKey(service, 'admin', { expiresAtMs: Date.now() - 1 }),
    ];
    for (const key of gone)
      expectProblem(await service.api('GET', '/agent/runs', undefined, key), 401, 'authentication_required');
    expect(
      (
        await service.api(
          'GET',
          '/agent/runs',
          undefined,
          await makeKey(service, 'viewer', { expiresAtMs: Date.now() + 60_000 }),
        )
      ).status,
    ).toBe(200);
  });

  it('the health answers and the ingress work', async () => {
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect((await deliver(service.ingressUrl('ours', 'orders'), TOKEN)).status).toBe(202);
  });

  it('nothing else is open because its address begins like health does', async () => {
    for (const path of ['/healthzz', '/healthz/x', '/readyzx', '/healthz/../api/v1/secrets'])
      expect([401, 404]).toContain((await fetch(`${service.url}${path}`)).status);
  });
});

describe('a role', () => {
  // Least role that may; with a body that would do no harm.
  const routes: [Role, string, string, unknown][] = [
    ['viewer', 'GET', '/agent/runs', undefined],
    ['viewer', 'GET', '/factory', undefined],
    ['viewer', 'GET', '/factory/OURS', undefined],
    ['viewer', 'GET', '/factory/OURS/status', undefined],
    ['viewer', 'GET', '/factory/OURS/syncs', undefined],
    ['viewer', 'GET', '/factory/OURS/webhooks', undefined],
    ['viewer', 'GET', '/factory/OURS/automations', undefined],
    ['operator', 'POST', '/agent/run', { prompt: 'x' }],
    ['operator', 'POST', '/factory/OURS/runs', { prompt: 'x' }],
    ['operator', 'POST', '/agent/runs/00000000-0000-7000-8000-000000000000/cancel', undefined],
    ['operator', 'POST', '/agent/runs/00000000-0000-7000-8000-000000000000/followups', { message: 'x' }],
    ['manager', 'POST', '/factory/OURS/sync', undefined],
    ['manager', 'POST', '/factory/OURS/resume', undefined],
    ['manager', 'POST', '/factory/OURS/approve', { plan: `sha256:${'0'.repeat(64)}` }],
    ['manager', 'GET', '/factory/OURS/secrets', undefined],
    ['manager', 'PUT', '/factory/OURS/secrets/own-secret', { value: 'a-value-of-some-length' }],
    ['admin', 'GET', '/secrets', undefined],
    ['admin', 'PUT', '/secrets/team-secret', { value: 'a-value-of-some-length' }],
    ['admin', 'DELETE', '/secrets/no-such-secret', undefined],
    ['admin', 'POST', '/factory', { slug: 'Bad Slug', source: { kind: 'git', url: 'https://example.com' } }],
    ['admin', 'PATCH', '/factory/fac_00000000000000000000000000', { name: 'x' }],
    ['admin', 'DELETE', '/factory/fac_00000000000000000000000000', undefined],
  ];
  it.each(routes)('%s and above: %s %s', async (least, method, path, body) => {
    for (const role of ROLES) {
      const answer = await as(role, method, path.replace('OURS', ours), body);
      if (ROLES.indexOf(role) < ROLES.indexOf(least)) expectProblem(answer, 403, 'not_authorized');
      else expect([200, 204, 400, 404, 409]).toContain(answer.status);
    }
  });

  it('that may not do a thing learns that before its body is judged', async () => {
    expectProblem(await as('viewer', 'POST', '/agent/runs', { prompt: 5 }), 403, 'not_authorized');
  });

  it('shows why a delivery was refused to managers only', async () => {
    await deliver(service.ingressUrl('ours', 'orders'), 'a-wrong-token-of-length');
    const path = `/factory/${ours}/webhooks/${service.webhookUid('ours', 'orders')}/deliveries`;
    const reasonFor = async (role: string): Promise<unknown> =>
      ((await as(role, 'GET', path)).body['deliveries'] as Record<string, unknown>[]).find(
        ({ outcome }) => outcome === 'Rejected (auth)',
      )?.['refused_because'];
    expect(await reasonFor('manager')).toEqual(expect.any(String));
    expect(await reasonFor('operator')).toBeUndefined();
    expect(await reasonFor('viewer')).toBeUndefined();
  });
});

describe('a key that is limited to one factory', () => {
  const hidden = (): [string, string, unknown][] => {
    const webhook = service.webhookUid('theirs', 'orders');
    return [
      ['GET', `/factory/${theirs}`, undefined],
      ['GET', `/factory/${theirs}/status`, undefined],
      ['GET', `/factory/${theirs}/syncs`, undefined],
      ['GET', `/factory/${theirs}/webhooks`, undefined],
      ['GET', `/factory/${theirs}/webhooks/${webhook}`, undefined],
      ['GET', `/factory/${theirs}/automations`, undefined],
      ['GET', `/factory/${ours}/webhooks/${webhook}`, undefined],
      ['GET', `/factory/${ours}/webhooks/${webhook}/deliveries`, undefined],
      ['POST', `/factory/${theirs}/sync`, undefined],
      ['POST', `/factory/${theirs}/suspend`, undefined],
      ['POST', `/factory/${theirs}/approve`, { plan: `sha256:${'0'.repeat(64)}` }],
      ['POST', `/factory/${theirs}/runs`, { prompt: 'x' }],
      ['POST', '/agent/runs', { prompt: 'x', factory_uid: theirs }],
      ['GET', `/factory/${theirs}/secrets`, undefined],
      ['PUT', `/factory/${theirs}/secrets/x`, { value: 'long-enough-value' }],
    ];
  };

  it('gets for another factory what it would get for none', async () => {
    for (const [method, path, body] of hidden()) {
      const answer = await as('limited manager', method, path, body);
      expectProblem(answer, 404, 'resource_not_found');
      const nowhere = await as(
        'limited manager',
        method,
        path.replaceAll(theirs, 'fac_00000000000000000000000000'),
        body === undefined
          ? undefined
          : JSON.parse(JSON.stringify(body).replaceAll(theirs, 'fac_00000000000000000000000000')),
      );
      const shape = ({ body: { detail, error, status } }: ApiAnswer): unknown => ({ detail, error, status });
      expect(shape(answer)).toEqual(shape(nowhere));
    }
  });

  it('sees its own factory and runs, and no trace of the other one anywhere', async () => {
    const [run] = (await as('admin', 'GET', `/agent/runs?factory_uid=${theirs}`)).body['runs'] as { run_id: string }[];
    const runId = String(run?.run_id);
    for (const [method, path] of [
      ['GET', `/agent/runs/${runId}`],
      ['GET', `/agent/runs/${runId}/events`],
      ['POST', `/agent/runs/${runId}/cancel`],
    ] as const) {
      expectProblem(await as('limited manager', method, path), 404, 'resource_not_found');
    }
    expectProblem(
      await as('limited manager', 'POST', `/agent/runs/${runId}/followups`, { message: 'x' }),
      404,
      'resource_not_found',
    );
    expect((await as('admin', 'GET', `/agent/runs/${runId}`)).body['state']).toBe('QUEUED');

    const free = String((await as('admin', 'POST', '/agent/runs', { prompt: 'of no factory' })).body['run_id']);
    expectProblem(await as('limited manager', 'GET', `/agent/runs/${free}`), 404, 'resource_not_found');

    const lists = await Promise.all(
      [
        '/factory?limit=500',
        '/factory?search=theirs',
        '/agent/runs?limit=500',
        `/agent/runs?factory_uid=${theirs}`,
        `/agent/runs?factory_uid=${theirs}&factory_uid=${ours}`,
      ].map((path) => as('limited manager', 'GET', path)),
    );
    for (const list of lists) {
      expect(list.status).toBe(200);
      for (const trace of [theirs, 'theirs', runId, free]) expect(JSON.stringify(list.body)).not.toContain(trace);
    }
    expect((lists[0]?.body['factories'] as { uid: string }[] | undefined)?.map(({ uid }) => uid)).toEqual([ours]);
    expect(lists[3]?.body['runs']).toEqual([]);
  });

  it('must name a factory when it creates a run', async () => {
    expect((await as('limited operator', 'POST', '/agent/runs', { prompt: 'x' })).status).toBe(403);
    expect((await as('limited operator', 'POST', '/agent/runs', { prompt: 'x', factory_uid: ours })).status).toBe(200);
  });

  it('of an admin governs the team no more', async () => {
    for (const [method, path, body] of [
      ['GET', '/secrets', undefined],
      ['PUT', '/secrets/x', { value: 'long-enough-value' }],
      ['DELETE', '/secrets/hook-token?force=true', undefined],
      ['POST', '/factory', { slug: 'new', source: { kind: 'git', url: 'https://example.com/r' } }],
    ] as const)
      expect((await as('limited admin', method, path, body)).status).toBe(403);
  });
});

describe('a malformed request', () => {
  const raw = (
    body: string | Uint8Array,
    headers: Record<string, string> = {},
    path = '/agent/runs',
  ): Promise<ApiAnswer> =>
    fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json', ...headers },
      body,
    }).then(async (answer) => ({
      status: answer.status,
      headers: answer.headers,
      body: JSON.parse(await answer.text()) as ApiAnswer['body'],
    }));

  it.each([
    ['cut off', '{"prompt": "hidden-word'],
    ['with a comment', '{"prompt": "hidden-word" /* x */}'],
    ['single quotes', "{'prompt': 'hidden-word'}"],
    ['two texts', '{"prompt":"hidden-word"}{}'],
    ['a byte order mark', '\ufeff{"prompt":"hidden-word"}'],
  ])('JSON %s is 400 and not repeated', async (_what, body) => {
    const answer = await raw(body);
    expectProblem(answer, 400, 'invalid_request');
    expect(JSON.stringify(answer.body)).not.toContain('hidden-word');
  });

  it('that is no UTF-8 is 400', async () =>
    expectProblem(await raw(new Uint8Array([0x7b, 0xff, 0x7d])), 400, 'invalid_request'));
  it('without a body is 400', async () => expectProblem(await raw(''), 400, 'invalid_request'));
  it.each([['text/plain'], ['application/x-www-form-urlencoded'], ['multipart/form-data; boundary=x'], ['nonsense']])(
    'of type %s is 415',
    async (type) => expectProblem(await raw('{"prompt":"x"}', { 'content-type': type }), 415, 'invalid_request'),
  );
  it.each([['application/json; charset=utf-8'], ['Application/JSON'], ['application/merge-patch+json']])(
    'of type %s is read',
    async (type) => expect((await raw('{"prompt":"x"}', { 'content-type': type })).status).toBe(200),
  );
  it('that is too large is 413', async () =>
    expectProblem(await raw(JSON.stringify({ prompt: 'x'.repeat(9 * 1_048_576) })), 413, 'invalid_request'));
  it('with __proto__ in it changes nothing for anybody', async () => {
    await raw('{"prompt":"x","__proto__":{"title":"polluted"},"metadata":{"constructor":"x"}}');
    expect(({} as Record<string, unknown>)['title']).toBeUndefined();
  });

  it.each([
    ['PUT', '/agent/runs'],
    ['DELETE', '/agent/runs'],
    ['PATCH', '/secrets/x'],
    ['POST', '/agent/runs/x'],
    ['GET', '/agent/run'],
  ])('with the wrong method (%s %s) is 404 or 405, as a problem', async (method, path) => {
    const answer = await service.api(method, path, method === 'GET' ? undefined : {});
    expect([404, 405]).toContain(answer.status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  it.each([
    ['GET', '/factory/a%00b', 404],
    ['GET', '/agent/runs/%00', 404],
    ['DELETE', '/secrets/%00', 404],
    ['GET', '/factory/OURS/webhooks/%00', 404],
    ['GET', '/factory/OURS/syncs/%00', 404],
    ['GET', '/factory?search=%00', 400],
    ['GET', '/agent/runs?name=a%00', 400],
    ['GET', '/factory/OURS/syncs?cursor=%00', 400],
    ['GET', '/agent/runs?factory_uid=a&factory_uid=%00', 400],
  ])('with U+0000 in its address, %s %s, is %i', async (method, path, status) => {
    expectProblem(
      await as('admin', method, path.replace('OURS', ours)),
      status,
      status === 404 ? 'resource_not_found' : 'invalid_request',
    );
  });

  it('with U+0000 in its address tells nobody without a key more than any other', async () => {
    expect((await fetch(`${service.url}/api/v1/factory/%00`)).status).toBe(401);
  });

  it.each([
    ['GET', '/factory?search=ours&search=b', ['search']],
    ['GET', '/factory?cursor=a&cursor=b', ['cursor']],
    ['GET', '/factory?limit=1&limit=2', ['limit']],
    ['GET', '/factory/OURS/syncs?cursor=a&cursor=b', ['cursor']],
    ['POST', '/factory/OURS/sync?wait=false&wait=true', ['wait']],
    ['DELETE', '/secrets/none?force=true&force=false', ['force']],
    ['GET', '/agent/runs?name=a&name=b&limit=1&limit=zzz', ['limit', 'name']],
    ['GET', '/agent/runs?sort_by=agent&sort_by=title', ['sort_by']],
    ['GET', '/agent/runs?metadata[a]=b&metadata[a]=c', ['metadata/a']],
  ])('that gives twice what takes one value, %s %s, is refused at %j', async (method, path, pointers) => {
    const answer = await as('admin', method, path.replace('OURS', ours));
    expectProblem(answer, 400, 'invalid_request');
    expect(
      (answer.body['errors'] as { pointer: string; message: string }[]).map(({ pointer }) => pointer).sort(),
    ).toEqual(pointers);
  });

  it('to no route is 404, as a problem, after authentication', async () => {
    for (const path of ['/nothing', '/agent/nothing', '/', '/agent/runs/x/y/z/%00'])
      expectProblem(await service.api('GET', path), 404, 'resource_not_found');
  });

  it('with a name for the host that is not ours is 421', async () => {
    const answer = await talk(`GET /api/v1/agent/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 421 /);
  });

  it.each([
    ['no HTTP', 'hidden-word\r\n\r\n', 400],
    ['a header beyond bounds', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
    ['an undecodable path', `GET /api/v1/%zz HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n`, 400],
  ])('that is %s gets an answer in our words', async (_what, text, status) => {
    const answer = await talk(text.replace('HOST', new URL(service.url).host));
    expect(answer.split(' ')[1]).toBe(String(status));
    expect(answer).not.toContain('hidden-word');
    expect(answer).not.toContain('%zz');
    expect(answer).not.toMatch(/fastify|node_modules|\bat \//i);
  });

  function talk(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      let heard = '';
      const socket = connect(Number(port), hostname, () => socket.write(text));
      socket
        .setEncoding('utf8')
        .on('data', (chunk) => (heard += String(chunk)))
        .on('close', () => resolve(heard))
        .on('error', reject);
    });
  }
});

describe('the audit trail', () => {
  it('says who did what, and no value', async () => {
    await as('admin', 'PUT', '/secrets/audited', { value: 'hidden-value-of-length' });
    await as('manager', 'POST', `/factory/${ours}/suspend`);
    await as('manager', 'POST', `/factory/${ours}/resume`);
    const runId = String(
      (await as('operator', 'POST', `/factory/${ours}/runs`, { prompt: 'hidden-value-of-length' })).body['run_id'],
    );
    await as('operator', 'POST', `/agent/runs/${runId}/followups`, { message: 'hidden-value-of-length' });
    await as('operator', 'POST', `/agent/runs/${runId}/cancel`);
    await as('admin', 'PATCH', `/factory/${ours}`, { name: 'Renamed' });
    const entries = (await service.service.database.source.query(
      'SELECT principal_uid, action, subject, details, address FROM audit_entry ORDER BY at, id',
    )) as Record<string, string>[];
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['secret.create', 'factory.suspend', 'factory.resume']),
    );
    expect(entries.find(({ subject }) => subject === 'audited')).toMatchObject({
      action: 'secret.create',
      address: '127.0.0.1',
    });
    expect(entries.filter(({ subject }) => subject === runId).map(({ action }) => action)).toEqual([
      'run.create',
      'run.followup',
      'run.cancel',
    ]);
    expect(entries.map(({ action }) => action)).toContain('factory.change');
    for (const { action, address } of entries.filter((entry) =>
      /^(run|factory|secret)\./.test(String(entry['action'])),
    ))
      expect({ action, address }).toEqual({ action, address: '127.0.0.1' });
    expect(JSON.stringify(entries)).not.toContain('hidden-value');
  });
});
