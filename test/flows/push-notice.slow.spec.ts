/**
 * A git host tells of a push and the factory follows at once; whoever knows no secret learns nothing and moves nothing.
 * contract §4.1 (push), §9.
 */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { deliver, statusOf, syncsOf, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import { chunk, connectRaw, exchange, LAST_CHUNK, requestHead, type HeaderLines } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const SECRET = 'push-secret-of-sixteen';
const SIGNING_TOKEN = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const TOKEN = 'a-token-of-sixteen-or-more';
/** In every body below; nothing that the service says or keeps may repeat it. */
const MARKER = 'Marker-4711';
const MIB = 1_048_576;
const MAIN = JSON.stringify({ ref: 'refs/heads/main', head_commit: { message: MARKER } });

let git: GitServer;
let service: TestService;
let repository: TestRepository;
let uid: string;
let count = 0;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
    },
  });
  await service.secret('hook-token', TOKEN);
  await keep('push', SECRET);
  ({ uid, repository } = await following({ pushSecret: 'push' }));
});

afterEach(() => {
  git.fault = undefined;
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

async function keep(name: string, value: string | undefined, uses = ['forge']): Promise<void> {
  expect((await service.api('PUT', `/secrets/${name}`, { value, grants: { uses } })).status).toBe(200);
}

async function following(source: {
  pushSecret?: string;
  branch?: string;
}): Promise<{ uid: string; slug: string; repository: TestRepository }> {
  const slug = `f${(count += 1)}`;
  const made = git.createRepository(slug);
  made.commit({ [webhookPath('orders')]: webhookFile('hook-token') });
  return {
    slug,
    repository: made,
    uid: await service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main', ...source }),
  };
}

const hex = (body: string | Uint8Array, secret = SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex');
const signed = (body: string | Uint8Array, secret = SECRET): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${hex(body, secret)}`,
});

interface NoticeAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Sends a notice, each test from an address of its own: failures are counted by address. */
async function tell(
  factoryUid: string,
  headers: Record<string, string>,
  body: string | Uint8Array | null = MAIN,
  from = '203.0.113.1',
): Promise<NoticeAnswer> {
  const answer = await fetch(`${service.url}/api/v1/factory/${factoryUid}/push`, {
    method: 'POST',
    headers: { 'x-forwarded-for': from, ...headers },
    body: body as string | null,
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
}

const serves = (slug: string): Promise<true> =>
  eventually(`${slug} is served`, async () =>
    (await statusOf(service, uid)).inventory.some((item) => item.slug === slug) ? (true as const) : undefined,
  );

const handled = (factoryUid: string): Promise<true> =>
  eventually('everything asked for is handled', async () => {
    const { generation_requested: asked, generation_handled: done } = await statusOf(service, factoryUid);
    return done >= asked ? (true as const) : undefined;
  });

describe('a notice with a proof', () => {
  it('asks for a pass at once: what was pushed is served, though the interval is an hour', async () => {
    repository.commit({ [webhookPath('pushed')]: webhookFile('hook-token') });
    const told = await tell(uid, { ...signed(MAIN), 'x-github-event': 'push', 'content-type': 'application/json' });
    expect(told).toMatchObject({
      status: 202,
      body: { factory_uid: uid, requested: true, reason: 'push', generation_requested: expect.any(Number) },
    });
    await serves('pushed');
    await handled(uid);
    expect((await deliver(service.ingressUrl('f1', 'pushed'), TOKEN)).status).toBe(202);
    expect((await syncsOf(service, uid))[0]).toMatchObject({ ending: 'applied', triggers: ['push'] });
    expect((await statusOf(service, uid)).generation_handled).toBeGreaterThanOrEqual(
      Number(told.body['generation_requested']),
    );
  });

  const form = `payload=${encodeURIComponent(MAIN)}`;
  const other = JSON.stringify({ ref: 'refs/heads/feature' });
  const cases: [who: string, headers: Record<string, string>, body: string | null, reason: string][] = [
    [
      'GitHub, as a form',
      { ...signed(form), 'x-github-event': 'push', 'content-type': 'application/x-www-form-urlencoded' },
      form,
      'push',
    ],
    [
      'GitHub, testing the connection',
      { ...signed('{}'), 'x-github-event': 'ping', 'content-type': 'application/json' },
      '{}',
      'not-a-push',
    ],
    [
      'GitHub, another branch',
      { ...signed(other), 'x-github-event': 'push', 'content-type': 'application/json' },
      other,
      'other-branch',
    ],
    ['Gitea', { 'x-gitea-signature': hex(MAIN), ...signed(MAIN), 'x-gitea-event': 'push' }, MAIN, 'push'],
    ['Forgejo', { 'x-forgejo-signature': hex(MAIN), 'x-forgejo-event': 'push' }, MAIN, 'push'],
    ['GitLab with a secret token', { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Push Hook' }, MAIN, 'push'],
    [
      'GitLab, a merge request',
      { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Merge Request Hook' },
      MAIN,
      'not-a-push',
    ],
    ['anybody', { 'x-millwright-signature-256': `sha256=${hex(MAIN)}` }, MAIN, 'push'],
    ['anybody without a body', { 'x-millwright-signature-256': `sha256=${hex('')}` }, null, 'push'],
    [
      'anybody with a body that nothing can read',
      { ...signed(`{"ref":"${MARKER}`), 'content-type': 'text/csv' },
      `{"ref":"${MARKER}`,
      'push',
    ],
    [
      'anybody with a body nested without end',
      { ...signed('['.repeat(100_000)), 'content-type': 'application/json' },
      '['.repeat(100_000),
      'push',
    ],
  ];
  it.each(cases)('of %s', async (_who, headers, body, reason) => {
    const before = (await statusOf(service, uid)).generation_requested;
    const told = await tell(uid, headers, body);
    expect(told).toMatchObject({ status: 202, body: { requested: reason === 'push', reason } });
    expect(told.body['generation_requested']).toBeGreaterThanOrEqual(before);
    if (reason !== 'push') expect((await statusOf(service, uid)).generation_requested).toBe(before);
  });

  it('of GitLab with a signing token, until the token is rotated', async () => {
    await keep('gitlab', SIGNING_TOKEN);
    const { uid: factory } = await following({ pushSecret: 'gitlab' });
    const notice = (token: string): Record<string, string> => ({
      'webhook-id': 'm1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': new Webhook(token).sign('m1', new Date(), MAIN),
      'x-gitlab-event': 'Push Hook',
    });
    expect((await tell(factory, notice(SIGNING_TOKEN))).status).toBe(202);
    const next = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    await keep('gitlab', next);
    expect([(await tell(factory, notice(SIGNING_TOKEN))).status, (await tell(factory, notice(next))).status]).toEqual([
      401, 202,
    ]);
  });

  it('reaches a suspended factory: its secrets are looked after, its repository is not asked', async () => {
    const { uid: factory, slug } = await following({ pushSecret: 'push' });
    await service.api('POST', `/factory/${factory}/suspend`);
    await handled(factory);
    git.forget();
    expect((await tell(factory, signed(MAIN))).body).toMatchObject({ requested: true, reason: 'suspended' });
    await handled(factory);
    expect(git.requests.filter(({ path }) => path.startsWith(`/${slug}/`))).toEqual([]);
  });

  it('is not held up by the back-off of a host that was away', async () => {
    const { uid: factory, slug, repository: other } = await following({ pushSecret: 'push' });
    git.fault = { kind: 'status', status: 503 };
    // the next look of its own is minutes away
    for (let failures = 0; failures < 8; failures += 1) await service.sync(factory);
    expect((await statusOf(service, factory)).condition.ending).toBe('failed');
    git.fault = undefined;
    const revision = other.commit({ [webhookPath('later')]: webhookFile('hook-token') });
    expect((await tell(factory, signed(MAIN))).status).toBe(202);
    await eventually('the push is served', async () =>
      (await statusOf(service, factory)).revision_applied?.includes(revision) ? true : undefined,
    );
    expect((await deliver(service.ingressUrl(slug, 'later'), TOKEN)).status).toBe(202);
  });

  it('250 times at once makes two passes: the one under way, and one that sees everything', async () => {
    const { uid: factory, slug } = await following({ pushSecret: 'push' });
    git.forget();
    let release: () => void = () => undefined;
    git.fault = { kind: 'hold', until: new Promise<void>((resolve) => (release = resolve)), only: 'ls-refs' };
    const looks = (): number =>
      git.requests.filter(({ kind, path }) => kind === 'ls-refs' && path.startsWith(`/${slug}/`)).length;
    const statuses: number[] = [];
    await Promise.all(
      Array.from({ length: 25 }, async () => {
        for (let sent = 0; sent < 10; sent += 1) statuses.push((await tell(factory, signed(MAIN))).status);
      }),
    );
    await eventually('the first pass asks git', () => (looks() === 1 ? true : undefined));
    release();
    await handled(factory);
    expect({ accepted: statuses.filter((status) => status === 202).length, looks: looks() }).toEqual({
      accepted: 250,
      looks: 2,
    });
  }, 300_000);
});

describe('a factory that takes no notices', () => {
  it('looks like none, whatever the reason and the proof; the operator is told', async () => {
    await keep('unset', undefined);
    await keep('not-granted', SECRET, ['webhook', 'git']);
    await keep('short', '1234567');
    const sources = [
      {},
      { pushSecret: 'never-made' },
      { pushSecret: 'unset' },
      { pushSecret: 'not-granted' },
      { pushSecret: 'short' },
    ];
    const made = await Promise.all(sources.map(following));
    const others = [
      await service.factory('by-hand', { kind: 'dashboard' }),
      await service.factory('on-disk', { kind: 'directory', path: '/nowhere' }),
      'fac_00000000000000000000000000',
      'nonsense',
    ];
    const answers = await Promise.all(
      [...made.map((factory) => factory.uid), ...others].flatMap((each) =>
        [signed(MAIN), {}].map((headers) => tell(each, headers)),
      ),
    );
    const told = answers.map(({ status, headers, body }) => ({
      status,
      type: headers.get('content-type'),
      body: { ...body, instance: '', trace_id: '' },
    }));
    expect(told[0]).toMatchObject({ status: 404, body: { error: 'resource_not_found' } });
    expect(new Set(told.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const warned = service.logged
      .filter((line) => line.includes('push notice refused'))
      .map((line) => (JSON.parse(line) as { factory: string }).factory);
    expect(warned.sort()).toEqual(
      made
        .slice(1)
        .map(({ slug }) => slug)
        .sort(),
    ); // once each
  });
});

describe('a notice without a proof', () => {
  const wrong: [why: string, headers: Record<string, string>][] = [
    ['none', {}],
    ['of another secret', signed(MAIN, 'another-secret-of-sixteen')],
    ['of another body', signed('{}')],
    ['an API key instead', { authorization: 'ADMIN' }],
    ['the wrong token', { 'x-gitlab-token': 'another-secret-of-sixteen' }],
  ];
  it.each(wrong)('is refused and asks for nothing: %s', async (why, headers) => {
    const before = (await statusOf(service, uid)).generation_requested;
    const told = await tell(
      uid,
      headers['authorization'] === undefined ? headers : { authorization: `Bearer ${service.adminKey}` },
      MAIN,
      `198.51.100.${why.length}`,
    );
    expect(told).toMatchObject({
      status: 401,
      body: { error: 'authentication_required', title: 'A valid signature is required' },
    });
    expect((await statusOf(service, uid)).generation_requested).toBe(before);
  });

  it('is refused when its proof is there twice, also twice the right one', async () => {
    const line: HeaderLines = [['X-Hub-Signature-256', `sha256=${hex(MAIN)}`]];
    const target = `/api/v1/factory/${uid}/push`;
    expect((await exchange(service.url, { target, body: MAIN, headers: line })).status).toBe(202);
    expect((await exchange(service.url, { target, body: MAIN, headers: [...line, ...line] })).status).toBe(401);
    expect((await exchange(service.url, { target, body: MAIN, headers: line, host: 'elsewhere.example' })).status).toBe(
      421,
    );
  });

  it('spends a budget of its address and factory, which no valid notice ever meets', async () => {
    const from = '192.0.2.1';
    const statuses: number[] = [];
    for (let sent = 0; sent < 22; sent += 1) statuses.push((await tell(uid, signed('{}'), MAIN, from)).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
    const refused = await tell(uid, {}, MAIN, from);
    expect({ status: refused.status, waits: Number(refused.headers.get('retry-after')) > 0 }).toEqual({
      status: 429,
      waits: true,
    });
    expect((await tell(uid, signed(MAIN), MAIN, from)).status).toBe(202);
    expect((await tell(uid, {}, MAIN, '192.0.2.2')).status).toBe(401);
  });
});

describe('a large notice', () => {
  const target = (): string => `/api/v1/factory/${uid}/push`;

  it('of five MiB is taken', async () => {
    const body = Buffer.alloc(5 * MIB, ' ');
    expect((await tell(uid, signed(body), body)).status).toBe(202);
  });

  it('of more is refused unread where it says so, and counted where it does not', async () => {
    const headers: HeaderLines = [
      ['X-Hub-Signature-256', `sha256=${hex('')}`],
      ['X-Forwarded-For', '192.0.2.3'],
    ];
    const declared = await connectRaw(service.url);
    declared.send(
      requestHead(service.url, {
        target: target(),
        headers: [...headers, ['Expect', '100-continue']],
        declared: 5 * MIB + 1,
      }),
    );
    expect(await declared.answer()).toMatchObject({ status: 413, interim: [] });
    declared.destroy();
    const counted = await connectRaw(service.url);
    counted.send(
      requestHead(service.url, { target: target(), headers: [...headers, ['Transfer-Encoding', 'chunked']] }),
    );
    for (let sent = 0; sent < 6; sent += 1) counted.send(chunk('x'.repeat(MIB)));
    expect((await counted.answer()).status).toBe(413);
    counted.destroy();
  });

  it('is asked for only where its head can go with a proof', async () => {
    const asked = await connectRaw(service.url);
    asked.send(
      requestHead(service.url, {
        target: target(),
        headers: [
          ['X-Hub-Signature-256', `sha256=${hex(MAIN)}`],
          ['Expect', '100-continue'],
          ['Transfer-Encoding', 'chunked'],
        ],
      }),
    );
    await eventually('the body is asked for', () => (asked.pending().includes('100 Continue') ? true : undefined));
    asked.send(chunk(MAIN) + LAST_CHUNK);
    expect(await asked.answer()).toMatchObject({ status: 202, interim: [100] });
    asked.destroy();
    const unasked = await connectRaw(service.url);
    unasked.send(
      requestHead(service.url, {
        target: target(),
        headers: [
          ['Expect', '100-continue'],
          ['X-Forwarded-For', '192.0.2.4'],
        ],
        declared: 1_000,
      }),
    );
    expect(await unasked.answer()).toMatchObject({ status: 401, interim: [] });
    unasked.destroy();
  });
});

it('nothing of a body, a proof or a secret is logged or kept', async () => {
  const tables = ['factory', 'sync_pass', 'audit_entry', 'idempotency_key'];
  const kept = await Promise.all(
    tables.map((table) => service.service.database.source.query(`SELECT * FROM ${table}`).catch(() => [])),
  );
  const everything = `${service.logged.join('')}${JSON.stringify(kept)}`;
  for (const told of [MARKER, SECRET, hex(MAIN), SIGNING_TOKEN]) expect(everything).not.toContain(told);
  const lines = service.logged.filter((line) => line.includes('"route":"/api/v1/factory/:uid/push"'));
  expect(lines.some((line) => line.includes(`"factory_uid":"${uid}"`) && line.includes('"status":202'))).toBe(true);
});
