/**
 * `millwright wait` against a server that plays each course a revision can take: exit codes, what is printed, what is
 * waited for. contract §9, §11.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Factory, FactoryStatus, RevisionStatus, Sync } from '#contracts';
import { createRepository } from '../../../test/support/git/git-repository.ts';
import { call, type Call } from '../../../test/support/services/recorded-io.ts';
import { eventually } from '../../../test/support/services/service.ts';

const COMMIT = 'c0ffee'.padEnd(40, '0');
const OTHER = 'beef'.padEnd(40, '1');
const DIGEST = `sha256:${'a'.repeat(64)}`;
const AT = '2026-01-01T00:00:00.000Z';
const UID = `fac_${'0'.repeat(26)}`;

const SYNC: Sync = {
  id: '01890000-0000-7000-8000-000000000000',
  triggers: ['api'],
  started_at: AT,
  finished_at: AT,
  ending: 'blocked',
  reason: 'definitions-invalid',
  message: null,
  revision: `main@sha1:${COMMIT}`,
  problems: [],
  changes: [],
  held: [],
  plan: null,
  timings: {},
  rewritten_from: null,
  superseded: 0,
};
const PROBLEM: Sync['problems'][number] = {
  path: 'webhooks/orders.yaml',
  line: 4,
  column: 13,
  severity: 'error',
  rule: 'secret-known',
  code: 'FF_X',
  message: 'no secret\n::error::of that name',
};

const FACTORY: Factory = {
  uid: UID,
  slug: 'shop',
  name: 'shop',
  description: '',
  created_at: AT,
  updated_at: AT,
  source: { kind: 'git', url: 'https://git.example.com/x', branch: 'main', path: 'factories/shop' },
  agent_defaults: { mcp_servers: {}, secrets: [], worker_host: '', default_runner_uid: '' },
  alias: 'shop',
  code_forge: 'NONE',
  code_forges: [],
  credential_strategy: 'CREATOR',
  repositories: [],
  scorer_defaults: {},
  scoring: {},
  team_uid: 'team',
  suspended: false,
  definitions_managed: true,
  service_account: 'sa_shop',
  sync_policy: {},
};
const STATUS: FactoryStatus = {
  factory_uid: UID,
  suspended: false,
  definitions_managed: true,
  conditions: [],
  condition: { ending: 'applied', reason: 'applied', message: null, since: AT, checked_at: AT },
  generation_requested: 7,
  generation_handled: 7,
  revision_seen: null,
  revision_attempted: null,
  revision_applied: null,
  last_sync: null,
  held_sync: null,
  recent_syncs: [],
  events: [],
  inventory: [],
};

function revisionStatus(state: RevisionStatus['state'], more: Partial<RevisionStatus> = {}): RevisionStatus {
  return {
    revision: COMMIT,
    state,
    message: `it is ${state}`,
    serving_revision: `main@sha1:${COMMIT}`,
    replicas: [
      { name: 'a', seen_at: AT, serving: true },
      { name: 'b', seen_at: AT, serving: true },
    ],
    sync: null,
    pull_requests: [],
    ...more,
  };
}

/**
 * What the server answers: each look the next one, the last one again and again. A number is a refusal of that status.
 */
let course: (RevisionStatus | number)[];
/** Status of the answer to POST sync; 0: asked for, as generation 7. */
let syncRefusal: number;
/** Generation handled, at each look at the status. */
let handled: number[];
/** The newest revision, and what became of it. */
let newest: RevisionStatus | undefined;
let requests: string[];
/** What the answer to POST sync says of the factory. */
let conditions: FactoryStatus['conditions'];
let server: Server;
let url: string;

beforeEach(async () => {
  [course, syncRefusal, handled, newest, requests, conditions] = [
    [revisionStatus('serving')],
    0,
    [7],
    undefined,
    [],
    [],
  ];
  server = createServer((request, response) => {
    const { status, body } = answer(request.method ?? '', request.url ?? '');
    response
      .writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' })
      .end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function answer(method: string, path: string): { status: number; body: unknown } {
  const refused = (status: number): { status: number; body: unknown } => ({
    status,
    body: { title: 'No', detail: `refused with ${status}`, status },
  });
  if (method === 'POST' && path === `/api/v1/factory/${UID}/sync`)
    return syncRefusal > 0 ? refused(syncRefusal) : { status: 200, body: { ...STATUS, conditions } };
  if (path === `/api/v1/factory/${UID}/status`)
    return {
      status: 200,
      body: {
        ...STATUS,
        generation_handled: handled.length > 1 ? handled.shift() : handled[0],
        revision_seen: newest?.revision ?? null,
      },
    };
  if (path === `/api/v1/factory/${UID}`) return { status: 200, body: FACTORY };
  const asked = new RegExp(`^/api/v1/factory/${UID}/revisions/([^/]+)$`).exec(path)?.[1];
  if (asked === undefined) return refused(404);
  if (decodeURIComponent(asked) === newest?.revision) return { status: 200, body: newest };
  requests.push(decodeURIComponent(asked));
  const next = (course.length > 1 ? course.shift() : course[0]) as RevisionStatus | number;
  return typeof next === 'number' ? refused(next) : { status: 200, body: next };
}

const wait = (argv: readonly string[] = [], environment: Record<string, string> = {}): Promise<Call> =>
  call(['wait', UID, '--revision', COMMIT.slice(0, 12), ...argv], {
    environment: { MILLWRIGHT_SERVER: url, MILLWRIGHT_API_KEY: `mw_${'k'.repeat(43)}`, ...environment },
  });

describe('HEAD', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wait-head-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const waitIn = (cwd: string, revision: string): Promise<Call> =>
    call(['wait', UID, '--revision', revision], {
      cwd,
      environment: { MILLWRIGHT_SERVER: url, MILLWRIGHT_API_KEY: `mw_${'k'.repeat(43)}` },
    });

  it('is the commit of the repository here, and HEAD~1 the one before', async () => {
    const git = createRepository(folder, 'shop');
    const before = git.commit({ 'factory.yaml': 'name: Shop\n' });
    const head = git.commit({ 'factory.yaml': 'name: Store\n' });
    for (const [revision, commit] of [
      ['HEAD', head],
      ['@', head],
      ['HEAD~1', before],
    ] as const) {
      requests = [];
      expect(await waitIn(git.folder, revision)).toMatchObject({
        code: 0,
        err: `waiting for ${commit} in shop …\n`,
      });
      expect([...new Set(requests)]).toEqual([commit]);
    }
  });

  it('is nothing where there is no repository: the server is not asked', async () => {
    const { code, out } = await waitIn(folder, 'HEAD');
    expect([code, out, requests]).toEqual([64, '', []]);
  });
});

describe('a revision that serves', () => {
  it('ends with 0, and says on how many replicas', async () => {
    expect(await wait()).toEqual({
      code: 0,
      out: `shop: ${COMMIT} serves on 2 replicas\n`,
      err: `waiting for ${COMMIT.slice(0, 12)} in shop …\n`,
    });
    expect(JSON.parse((await wait(['--format', 'json'])).out)).toEqual(revisionStatus('serving'));
  });

  it('says when no process makes passes, and waits all the same', async () => {
    conditions = [
      {
        type: 'Stalled',
        status: 'True',
        reason: 'no-sync-process',
        message: 'no process with the role sync is running: x',
        since: null,
        observed_generation: 7,
      },
    ];
    expect(await wait()).toMatchObject({
      code: 0,
      err: `no process with the role sync is running: x\nwaiting for ${COMMIT.slice(0, 12)} in shop …\n`,
    });
  });

  it('names the pull requests that it came with, as soon as the forge was asked', async () => {
    const merged = (number: number): NonNullable<RevisionStatus['pull_requests']>[number] => ({
      revision: COMMIT,
      number,
      title: `Add a \u001b[31m${'very '.repeat(20)}long title`,
      author: 'ann',
      url: null,
      merge_commit: COMMIT,
    });
    course = [
      revisionStatus('serving', { pull_requests: null }),
      revisionStatus('serving', { pull_requests: [1, 2, 3, 4].map(merged) }),
    ];
    const { code, out } = await wait();
    expect(code).toBe(0);
    const [, said = ''] = out.split('\n');
    expect(said).toMatch(/^it came with pull requests #1 “Add a .*…” by ann, #2 .*, #3 .*, and 1 more$/);
    expect(said).not.toContain('\u001b');
    const answered = course.at(-1);
    course = [revisionStatus('serving', { pull_requests: null }), answered as RevisionStatus];
    expect(JSON.parse((await wait(['--format', 'json'])).out)).toMatchObject({
      pull_requests: [{ number: 1 }, {}, {}, {}],
    });
  });

  it('ends with 0 as part of a later one', async () => {
    // The later one applied in part; what it lacks is not this one's.
    course = [
      revisionStatus('serving', {
        serving_revision: `main@sha1:${OTHER}`,
        sync: { ...SYNC, revision: `main@sha1:${OTHER}`, ending: 'applied', problems: [PROBLEM] },
      }),
    ];
    expect(await wait()).toMatchObject({
      code: 0,
      out: `shop: ${COMMIT} serves on 2 replicas, as part of main@sha1:${OTHER}\n`,
    });
  });

  it('is waited for through everything that ends by itself', async () => {
    const window = revisionStatus('blocked', {
      message: 'it applies when the sync window opens',
      sync: { ...SYNC, reason: 'outside-sync-window' },
    });
    course = [
      revisionStatus('unknown'),
      revisionStatus('failed'),
      503,
      revisionStatus('superseded'),
      window,
      revisionStatus('waiting'),
      revisionStatus('serving'),
    ];
    const { code, err } = await wait();
    expect(code).toBe(0);
    expect(err.split('\n').slice(1, -1)).toEqual([
      'unknown: it is unknown',
      'failed: it is failed',
      'refused with 503',
      'superseded: it is superseded',
      'blocked: it applies when the sync window opens',
      'waiting: it is waiting',
    ]);
  });

  it('may be waited for by who may not ask for a sync', async () => {
    syncRefusal = 403;
    expect(await wait()).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^no sync was asked for: refused with 403\n/),
    });
  });

  it('ends with 1 or 4 where only a part of it serves', async () => {
    course = [revisionStatus('serving', { sync: { ...SYNC, ending: 'applied', problems: [PROBLEM] } })];
    expect(await wait()).toMatchObject({ code: 1, out: expect.stringContaining('[secret-known]') });
    course = [revisionStatus('serving', { sync: { ...SYNC, ending: 'applied', plan: DIGEST } })];
    expect(await wait()).toMatchObject({
      code: 4,
      err: expect.stringContaining(`millwright approve shop ${DIGEST}\n`),
    });
  });
});

describe('a revision that people have to act on', () => {
  it('ends with 1 at once, with its problems as validate prints them', async () => {
    course = [revisionStatus('blocked', { sync: { ...SYNC, problems: [PROBLEM] } })];
    const { code, out } = await wait();
    expect({ code, lines: out.split('\n') }).toEqual({
      code: 1,
      lines: [
        'webhooks/orders.yaml:4:13: no secret\\u{a}::error::of that name [secret-known]',
        'shop: blocked: it is blocked',
        '',
      ],
    });
    expect(requests).toHaveLength(2); // the second behind the sync that was asked for
  });

  it('is shown to build servers beside its lines, from the root of the repository on', async () => {
    course = [revisionStatus('blocked', { sync: { ...SYNC, problems: [PROBLEM] } })];
    const folder = mkdtempSync(join(tmpdir(), 'wait-'));
    try {
      const file = join(folder, 'summary.md');
      const { code, out } = await wait(['--format', 'github'], { GITHUB_STEP_SUMMARY: file });
      expect(code).toBe(1);
      expect(out.split('\n')[0]).toMatch(
        /^::error file=factories\/shop\/webhooks\/orders\.yaml,line=4,col=13,title=secret-known::no secret/,
      );
      expect(readFileSync(file, 'utf8')).toContain('secret-known');
      course = [revisionStatus('lost', { message: '100 %\n::error::gone' })];
      expect((await wait(['--format', 'github'], { GITHUB_STEP_SUMMARY: file })).out).toBe(
        '::error title=millwright wait::shop: lost: 100 %25\\u{a}::error::gone\n',
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('ends with 4 where the guard holds deletions or a rewritten history, and says what lets them', async () => {
    const held = {
      action: 'delete' as const,
      kind: 'webhook' as const,
      slug: 'orders',
      uid: 'wh_1',
      path: 'webhooks/orders.yaml',
      changes: [],
    };
    course = [
      revisionStatus('blocked', {
        sync: { ...SYNC, reason: 'prune-held', held: [held] as unknown as Sync['held'], plan: DIGEST },
      }),
    ];
    expect(await wait()).toMatchObject({
      code: 4,
      out: expect.stringContaining('held: deletion of webhook orders (webhooks/orders.yaml)\n'),
      err: expect.stringContaining(`to let it go: millwright approve shop ${DIGEST}\n`),
    });
  });

  it('ends with 1 when the branch has lost it, or nobody trusts who signed it', async () => {
    course = [revisionStatus('lost')];
    expect(await wait()).toMatchObject({ code: 1, out: 'shop: lost: it is lost\n' });
    // What was held then can be approved no more.
    const held = {
      action: 'delete' as const,
      kind: 'webhook' as const,
      slug: 'orders',
      uid: 'wh_1',
      path: 'webhooks/orders.yaml',
      changes: [],
    };
    course = [
      revisionStatus('lost', {
        sync: {
          ...SYNC,
          reason: 'prune-held',
          problems: [PROBLEM],
          held: [held] as unknown as Sync['held'],
          plan: DIGEST,
        },
      }),
    ];
    expect(await wait()).toMatchObject({
      code: 1,
      out: 'shop: lost: it is lost\n',
      err: expect.not.stringContaining('approve'),
    });
    course = [revisionStatus('blocked', { sync: { ...SYNC, reason: 'source-unverified' } })];
    expect(await wait()).toMatchObject({ code: 1 });
  });

  it('is believed to be blocked only when the sync that was asked for says so too', async () => {
    const blocked = revisionStatus('blocked', { sync: SYNC });
    [course, handled] = [
      [blocked, blocked, revisionStatus('serving')],
      [6, 6, 7],
    ];
    expect(await wait()).toMatchObject({ code: 0 });
  });
});

describe('a revision that a newer one superseded', () => {
  const tip = `main@sha1:${OTHER}`;
  const blocked = (more: Partial<Sync>): RevisionStatus =>
    revisionStatus('blocked', { revision: tip, sync: { ...SYNC, revision: tip, ...more } });
  const words = `shop: ${COMMIT.slice(0, 12)} is superseded by ${tip}, which is blocked: it is blocked\n`;

  it('ends with 1 and the problems of the newest, if those keep it from serving; with 4 where it is held', async () => {
    [course, newest] = [[revisionStatus('superseded')], blocked({ problems: [PROBLEM] })];
    const { code, out } = await wait();
    expect({ code, out }).toEqual({
      code: 1,
      out: `webhooks/orders.yaml:4:13: no secret\\u{a}::error::of that name [secret-known]\n${words}`,
    });
    expect(JSON.parse((await wait(['--format', 'json'])).out)).toEqual(newest);
    newest = blocked({ reason: 'prune-held', plan: DIGEST });
    expect(await wait()).toMatchObject({
      code: 4,
      out: words,
      err: expect.stringContaining(`millwright approve shop ${DIGEST}\n`),
    });
  });

  it(
    'is waited for while the newest is one of before the sync that was asked for, waits for a window, or is ' +
      'mended',
    async () => {
      [course, newest, handled] = [
        [revisionStatus('superseded'), revisionStatus('superseded'), revisionStatus('serving')],
        blocked({ problems: [PROBLEM] }),
        [6],
      ];
      expect(await wait()).toMatchObject({ code: 0 });
      [course, newest, handled] = [
        [
          revisionStatus('superseded'),
          revisionStatus('superseded'),
          revisionStatus('superseded'),
          revisionStatus('serving'),
        ],
        blocked({ reason: 'outside-sync-window' }),
        [7],
      ];
      expect(await wait()).toMatchObject({ code: 0 });
      [course, newest] = [[revisionStatus('superseded'), revisionStatus('serving')], blocked({ problems: [PROBLEM] })];
      expect(await wait()).toMatchObject({ code: 0 });
    },
  );
});

describe('the end of patience', () => {
  it('ends with 3, with what it waits for', async () => {
    course = [revisionStatus('unknown')];
    const { code, err } = await wait(['--timeout', '3']);
    expect(code).toBe(3);
    expect(err).toContain(
      `millwright wait: ${COMMIT.slice(0, 12)} does not serve after 3 s: unknown: it is unknown\n  see: ` +
        `millwright status shop\n`,
    );
  });

  it('ends with 3 where nobody answers', async () => {
    server.close();
    expect(await wait()).toMatchObject({ code: 3, err: expect.stringContaining('connection refused') });
  });

  it('ends with 3 on SIGINT, cleanly', async () => {
    course = [revisionStatus('waiting')];
    const waiting = wait();
    await eventually('it waits', () => requests.length > 1 || undefined);
    process.emit('SIGINT');
    expect(await waiting).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringMatching(/\nstopped; nobody waits for c0ffee000000 any more, and it goes its way\n$/),
    });
    expect(process.listenerCount('SIGINT')).toBe(0);
  });

  it('comes at once for a key that loses its right', async () => {
    course = [revisionStatus('waiting'), 404];
    expect(await wait()).toMatchObject({ code: 5 });
  });
});

it.each([['x'], ['c0ffe'], ['-'.padEnd(7, 'f')], ['../../status'], ['main'], [`${COMMIT} `]])(
  '--revision=%s is no revision: 64, before anything is sent',
  async (revision) => {
    const { code, err } = await call(['wait', UID, `--revision=${revision}`], {
      environment: { MILLWRIGHT_SERVER: url, MILLWRIGHT_API_KEY: `mw_${'k'.repeat(43)}` },
    });
    expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining('--revision must be a commit ID') });
    expect(requests).toEqual([]);
  },
);

it.each([[['--timeout', '0']], [['--format', 'sarif']], [['again']]])('%j is no way to call it: 64', async (argv) => {
  expect(await wait(argv)).toMatchObject({ code: 64, out: '' });
});

it.each([[`main@sha1:${COMMIT}`], [`feature/x@sha1:${COMMIT}`], [`sha256:${'b'.repeat(64)}`]])(
  '%s goes to the server whole',
  async (revision) => {
    expect(
      (
        await call(['wait', UID, '--revision', revision], {
          environment: { MILLWRIGHT_SERVER: url, MILLWRIGHT_API_KEY: `mw_${'k'.repeat(43)}` },
        })
      ).code,
    ).toBe(0);
    expect(requests).toEqual([revision]);
  },
);
