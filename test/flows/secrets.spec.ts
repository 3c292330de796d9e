/** Managed secrets over the API: values go in and never come out. contract §2. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeKey } from '../support/services/api-keys.ts';
import { deliver, syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import { bootService, eventually, type ApiAnswer, type TestService } from '../support/services/service.ts';

const TOKEN = 'Marker-4711_a-token-of-length';
let git: GitServer;
let service: TestService;
let repository: TestRepository;
let uid: string;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  await service.secret('in-use', TOKEN);
  await service.secret('url-safe', 'Marker-4711.url-safe_value');
  await service.secret('signing', 'Marker-4711 signing value');
  await service.secret('standard', `whsec_${Buffer.from('Marker-4711 a key of 24+ bytes').toString('base64')}`);
  repository = git.createRepository('main');
  repository.commit({
    [webhookPath('bearer')]: webhookFile('in-use'),
    [webhookPath('inurl')]: webhookFile('url-safe', 'authMode: url_token'),
    [webhookPath('github')]: webhookFile('signing', 'authMode: signature', 'signatureScheme: github'),
    [webhookPath('standard')]: webhookFile('standard', 'authMode: signature', 'signatureScheme: standard_webhooks'),
  });
  uid = await service.factory('main', { kind: 'git', url: git.urlOf('main'), branch: 'main' });
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

const put = (name: string, body: unknown): Promise<ApiAnswer> => service.api('PUT', `/secrets/${name}`, body);

describe('a secret', () => {
  it('is shown as metadata', async () => {
    const { status, body } = await service.api('GET', '/secrets/in-use');
    expect(status).toBe(200);
    expect(body).toEqual({
      name: 'in-use',
      owner: 'team',
      grants: { factories: '*', uses: ['webhook'] },
      version: 1,
      set: true,
      url_safe: true,
      updated_at: expect.any(String),
      used_by: [
        { kind: 'webhook', webhook_uid: service.webhookUid('main', 'bearer'), factory_uid: uid, slug: 'bearer' },
      ],
    });
    expect((await service.api('GET', '/secrets')).body['secrets']).toEqual(expect.arrayContaining([body]));
  });

  it('may be declared without a value and set later', async () => {
    expect((await put('declared', {})).body).toMatchObject({ version: 0, set: false, url_safe: false });
    expect((await put('declared', { value: 'now it has one' })).body).toMatchObject({
      version: 1,
      set: true,
      url_safe: false,
    });
    expect((await put('declared', { grants: { uses: ['run', 'git'] } })).body).toMatchObject({
      version: 1,
      grants: { factories: '*', uses: ['run', 'git'] },
    });
  });

  it('has versions', async () => {
    await put('versions', { value: 'first value' });
    expect((await put('versions', { value: 'second value' })).body).toMatchObject({ version: 2 });
  });

  it('keeps its bytes exactly: a final newline is part of it', async () => {
    await put('newline', { value: `${TOKEN}\n`, grants: { uses: ['webhook'] } });
    const other = git.createRepository('newline');
    other.commit({ [webhookPath('orders')]: webhookFile('newline') });
    const status = await syncAndGetStatus(
      service,
      await service.factory('newline', { kind: 'git', url: git.urlOf('newline'), branch: 'main' }),
    );
    expect(status.last_sync?.problems.map(({ path, line, column }) => [path, line, column])).toEqual([
      [webhookPath('orders'), 1, 13],
    ]); // no token holds a newline
  });

  it.each([['1st'], ['a b'], ['a.b'], ['ü'], ['a'.repeat(129)], ['-a']])('is not called %s', async (name) => {
    expect((await put(encodeURIComponent(name), { value: 'long enough value' })).status).toBe(400);
  });

  it.each([
    [{ value: 5 }, '/value'],
    [{ value: '' }, '/value'],
    [{ value: 'half of a pair: \ud800' }, '/value'],
    [{ grants: { factories: ['main'] } }, '/grants/factories/0'],
    [{ grants: { factories: ['fac_00000000000000000000000000'] } }, '/grants/factories/0'],
    [{ grants: { uses: ['everything'] } }, '/grants/uses/0'],
    [{ grants: { factories: 'all' } }, '/grants/factories'],
    [{ grants: { runs: 'all' } }, '/grants/runs'],
    [{ grants: { hosts: ['https://git.example'] } }, '/grants/hosts/0'],
    [{ grants: { hosts: 'git.example' } }, '/grants/hosts'],
    [{ grants: { runs: ['triage'] } }, '/grants/runs/0'],
    [{ grants: [] }, '/grants'],
  ])('is not made of %j', async (body, pointer) => {
    const answer = await put('malformed', body);
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).some((error) => error.pointer === pointer)).toBe(true);
    expect((await service.api('GET', '/secrets/malformed')).status).toBe(404);
  });

  it('that runs may use has at most 16 KiB; a longer one may be for something else', async () => {
    const long = { value: 'x'.repeat(16_385) };
    const answer = await put('LONG_ONE', { ...long, grants: { uses: ['git', 'run'] } });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/value', message: expect.stringContaining('at most 16384 bytes') }] },
    });
    expect(JSON.stringify(answer.body)).not.toContain('xxx');
    expect((await put('LONG_ONE', { ...long, grants: { uses: ['git'] } })).status).toBe(200);
    await put('LONG_ONE', { grants: { uses: ['run'] } });
    expect((await put('LONG_ONE', long)).status).toBe(400); // what it is granted for counts, said now or before
    expect((await put('LONG_ONE', { value: 'x'.repeat(16_384) })).status).toBe(200);
  });

  it('that runs may use has at least 8 characters; a shorter one may be for something else', async () => {
    const answer = await put('SHORT_ONE', { value: 'sh0rt-1', grants: { uses: ['run'] } });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/value', message: expect.stringContaining('at least 8 characters') }] },
    });
    expect(JSON.stringify(answer.body)).not.toContain('sh0rt-1');
    expect((await put('SHORT_ONE', { value: 'sh0rt-1', grants: { uses: ['git'] } })).status).toBe(200);
    await put('SHORT_ONE', { grants: { uses: ['git', 'run'] } });
    expect((await put('SHORT_ONE', { value: 'sh0rt-2' })).status).toBe(400);
    expect((await put('SHORT_ONE', { value: 'long-enough' })).status).toBe(200);
  });

  it('that does not exist is 404 to look at and to delete', async () => {
    expect((await service.api('GET', '/secrets/nowhere')).status).toBe(404);
    expect((await service.api('DELETE', '/secrets/nowhere')).status).toBe(404);
  });

  it('that is used is not deleted, and the answer says by whom', async () => {
    const answer = await service.api('DELETE', '/secrets/in-use');
    expect(answer).toMatchObject({
      status: 409,
      body: {
        error: 'conflict',
        retryable: false,
        used_by: [{ webhook_uid: service.webhookUid('main', 'bearer'), factory_uid: uid, slug: 'bearer' }],
      },
    });
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect((await service.api('GET', '/secrets/in-use')).status).toBe(200);
  });

  it('that nobody uses can be deleted; its name starts afresh', async () => {
    await put('short-lived', { value: 'some value' });
    expect((await service.api('DELETE', '/secrets/short-lived')).status).toBe(204);
    expect((await service.api('GET', '/secrets/short-lived')).status).toBe(404);
    expect((await put('short-lived', {})).body).toMatchObject({ version: 0, set: false });
  });
});

describe('a value that a webhook could not authenticate with', () => {
  const unusable: [string, string, string][] = [
    ['in-use', 'Marker-9999', 'a token has 16 characters at least'],
    ['in-use', `Marker-9999${'x'.repeat(510)}`, 'a token has 512 characters at most'],
    ['in-use', 'Marker-9999 with a space in it', 'a header value would be trimmed or split'],
    ['in-use', 'Marker-9999-größer-als-nötig', 'tokens are ASCII'],
    ['url-safe', 'Marker-9999/with+signs=', 'a path segment would be cut or decoded'],
    ['url-safe', '................', 'only dots: a path would be normalised away'],
    ['signing', 'Mark-99', 'a key of under 8 bytes can be guessed'],
    ['standard', 'Marker-9999-without-the-prefix', 'the prefix says how to read it'],
    ['standard', `whsec_${Buffer.from('Marker-9999').toString('base64')}`, 'under 24 bytes'],
    ['standard', 'whsec_Marker-9999-is-not-strict-base64!', 'not base64'],
  ];
  it.each(unusable)('is refused for %s with the reason, without the value (%s)', async (name, value, why) => {
    expect(why).not.toBe('');
    const before = (await service.api('GET', `/secrets/${name}`)).body;
    const answer = await put(name, { value });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_request',
        errors: [{ pointer: '/value', message: expect.stringMatching(/^webhook \w+ cannot use it: ./) }],
      },
    });
    expect(JSON.stringify(answer.body)).not.toContain(value);
    expect((await service.api('GET', `/secrets/${name}`)).body).toEqual(before);
  });

  it('is a problem at secretName when it was there first', async () => {
    await put('too-short', { value: 'Mark-9' });
    const other = git.createRepository('unusable');
    other.commit({ [webhookPath('orders')]: webhookFile('too-short') });
    const status = await syncAndGetStatus(
      service,
      await service.factory('unusable', { kind: 'git', url: git.urlOf('unusable'), branch: 'main' }),
    );
    expect(status.last_sync?.problems[0]).toMatchObject({
      path: webhookPath('orders'),
      line: 1,
      column: 13,
      severity: 'error',
    });
    expect(status.last_sync?.problems[0]?.message).not.toContain('Mark-9');
  });
});

describe('a value', () => {
  it('is nowhere to be read: no answer, no log, no file of the service', async () => {
    const marker = ['Marker', '4711'].join('-');
    await deliver(service.ingressUrl('main', 'bearer'), TOKEN);
    await deliver(service.ingressUrl('main', 'bearer'), `${TOKEN}-wrong`);
    await fetch(`${service.ingressUrl('main', 'inurl')}/Marker-4711.url-safe_value`, { method: 'POST', body: '{}' });
    await fetch(`${service.ingressUrl('main', 'inurl')}/Marker-4711.wrong`, { method: 'POST', body: '{}' });
    await eventually('the deliveries are in the log', async () =>
      (
        (await service.api('GET', `/factory/${uid}/webhooks/${service.webhookUid('main', 'inurl')}/deliveries`)).body[
          'deliveries'
        ] as unknown[]
      ).length === 2
        ? true
        : undefined,
    );
    const paths = [
      '/secrets',
      '/secrets/in-use',
      '/secrets/url-safe',
      `/factory/${uid}`,
      `/factory/${uid}/status`,
      `/factory/${uid}/syncs?limit=100`,
      `/factory/${uid}/webhooks`,
      `/factory/${uid}/automations`,
      `/agent/runs?limit=500`,
      ...['bearer', 'inurl', 'github', 'standard'].map(
        (slug) => `/factory/${uid}/webhooks/${service.webhookUid('main', slug)}/deliveries`,
      ),
    ];
    for (const path of paths) expect(JSON.stringify((await service.api('GET', path)).body)).not.toContain(marker);
    expect(service.logged.join('\n')).not.toContain(marker);
    await service.service.database.source.query('PRAGMA wal_checkpoint(TRUNCATE)');
    const places = readdirSync(service.dataDir, { recursive: true, encoding: 'utf8' })
      .map((path) => join(service.dataDir, path))
      .filter((path) => statSync(path).isFile());
    expect(places.some((path) => path.endsWith('millwright.sqlite'))).toBe(true);
    for (const path of places)
      expect({ path, holds: readFileSync(path).includes(marker) }).toEqual({ path, holds: false });
  });

  it('lies in files of which nobody else may read any', () => {
    for (const name of ['', 'master-key', 'uid-key', 'millwright.sqlite'])
      expect({ name, open: statSync(join(service.dataDir, name)).mode & 0o077 }).toMatchObject({
        name,
        open: name === 'millwright.sqlite' ? expect.any(Number) : 0,
      });
    expect(statSync(service.dataDir).mode & 0o077).toBe(0);
  });

  it('that was rotated out does not stay in the database', async () => {
    await put('rotating', { value: 'a value of some length 1', grants: { uses: ['run'] } });
    await put('rotating', { value: 'a value of some length 2' });
    await service.secret('in-use', `${TOKEN}-2`);
    await eventually('only the newest versions are stored', async () => {
      const rows = (await service.service.database.source.query(
        'SELECT s.name, count(*) AS versions FROM secret s JOIN secret_value v ON v.secret_id = s.id GROUP BY s.name',
      )) as { name: string; versions: number }[];
      return rows.every(({ versions }) => versions === 1) ? true : undefined;
    });
  });
});

describe('grants', () => {
  it('that are taken away count from the answer on, whatever the passes do', async () => {
    await service.secret('granted', 'Marker-4711-granted-token');
    git.createRepository('granted').commit({ [webhookPath('orders')]: webhookFile('granted') });
    const factory = await service.factory('granted', { kind: 'git', url: git.urlOf('granted'), branch: 'main' });
    const url = service.ingressUrl('granted', 'orders');
    for (const taken of [{ uses: ['run'] }, { uses: ['webhook'], factories: [uid] }, { factories: [] }]) {
      await put('granted', { grants: { uses: ['webhook'], factories: [factory] } });
      await eventually('the grant is back', async () =>
        (await deliver(url, 'Marker-4711-granted-token')).status === 202 ? true : undefined,
      );
      expect((await put('granted', { grants: taken })).status).toBe(200);
      expect((await deliver(url, 'Marker-4711-granted-token')).status).toBe(401);
    }
  });

  it('that were read can be sent back, also when one of the factories has gone since', async () => {
    const gone = await service.factory('gone', { kind: 'directory', path: '/nowhere' });
    await put('sent-back', { grants: { factories: [uid, gone] } });
    await service.api('DELETE', `/factory/${gone}`);
    const { grants } = (await service.api('GET', '/secrets/sent-back')).body;
    expect((await put('sent-back', { grants })).body).toMatchObject({ grants: { factories: [uid, gone] } });
    expect((await put('another', { grants })).status).toBe(400);
  });
});

describe('a secret that is no webhook’s', () => {
  it('is not deleted while a source is read with it', async () => {
    await put('git-token', { value: 'Marker-4711-git', grants: { uses: ['git'] } });
    const made = await service.api('POST', '/factory', {
      slug: 'private',
      source: { kind: 'git', url: git.urlOf('private'), branch: 'main', credential_secret: 'git-token' },
    });
    const usedBy = [{ kind: 'factory', factory_uid: made.body['uid'], slug: 'private' }];
    expect((await service.api('GET', '/secrets/git-token')).body['used_by']).toEqual(usedBy);
    expect(await service.api('DELETE', '/secrets/git-token')).toMatchObject({
      status: 409,
      body: { detail: 'the secret is used by private; pass force=true to delete it all the same', used_by: usedBy },
    });
    expect((await service.api('DELETE', '/secrets/git-token?force=true')).status).toBe(204);
    expect((await service.api('DELETE', '/secrets/sent-back?force=perhaps')).status).toBe(400);
  });
});

describe('the list of secrets', () => {
  it('is paged by name', async () => {
    const named = (answer: ApiAnswer): string[] =>
      (answer.body['secrets'] as { name: string }[]).map(({ name }) => name);
    const all = named(await service.api('GET', '/secrets?limit=500'));
    const seen: string[] = [];
    for (let next = ''; ;) {
      const answer = await service.api('GET', `/secrets?limit=3${next}`);
      seen.push(...named(answer));
      const page = answer.body['page_info'] as { has_next_page: boolean; next_cursor?: string };
      if (!page.has_next_page) break;
      next = `&cursor=${page.next_cursor ?? ''}`;
    }
    expect(seen).toEqual(all);
    const { next_cursor: cursor = '' } = (await service.api('GET', '/secrets?limit=1')).body['page_info'] as {
      next_cursor?: string;
    };
    for (const path of [`/factory/${uid}/secrets?cursor=${cursor}`, '/secrets?cursor=x', '/secrets?limit=0'])
      expect((await service.api('GET', path)).status).toBe(400);
  });
});

describe("a factory's own secret", () => {
  it("is its managers' to set, comes before the team's of the same name, and is nobody else's", async () => {
    const manager = await makeKey(service, 'manager', { factories: [uid] });
    await service.secret('both', 'the-team-token-of-length');
    repository.commit({ [webhookPath('both')]: webhookFile('both') });
    await service.sync(uid);
    expect((await deliver(service.ingressUrl('main', 'both'), 'the-team-token-of-length')).status).toBe(202);
    const everybody = await service.api(
      'PUT',
      `/factory/${uid}/secrets/both`,
      { value: 'the-factory-token-of-length', grants: { factories: '*' } },
      manager,
    );
    expect(everybody).toMatchObject({ status: 400, body: { errors: [{ pointer: '/grants/factories' }] } });
    const answer = await service.api(
      'PUT',
      `/factory/${uid}/secrets/both`,
      { value: 'the-factory-token-of-length', grants: { factories: [uid], uses: ['webhook'] } },
      manager,
    );
    expect(answer).toMatchObject({
      status: 200,
      body: { owner: uid, grants: { factories: [uid], uses: ['webhook'] } },
    });
    await eventually('the own secret serves', async () =>
      (await deliver(service.ingressUrl('main', 'both'), 'the-factory-token-of-length')).status === 202
        ? true
        : undefined,
    );
    expect((await deliver(service.ingressUrl('main', 'both'), 'the-team-token-of-length')).status).toBe(401);
    expect((await service.api('GET', '/secrets')).body['secrets']).not.toEqual(
      expect.arrayContaining([expect.objectContaining({ owner: uid })]),
    );
    expect((await service.api('DELETE', `/factory/${uid}/secrets/both?force=true`, undefined, manager)).status).toBe(
      204,
    );
    expect((await deliver(service.ingressUrl('main', 'both'), 'the-factory-token-of-length')).status).toBe(401);
    await eventually("the team's serves again", async () =>
      (await deliver(service.ingressUrl('main', 'both'), 'the-team-token-of-length')).status === 202 ? true : undefined,
    );
  });
});
