/**
 * `millwright status`, `sync`, `syncs` and `approve` against a real service: what each ending prints, and its exit
 * code.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRepository } from '../../../test/support/git/git-repository.ts';
import { bootService, type TestService } from '../../../test/support/services/service.ts';
import { call, type Call } from '../../../test/support/services/recorded-io.ts';

let test: TestService;
let folder: string;
let repository: string;
let uid: string;

beforeEach(async () => {
  test = await bootService();
  folder = mkdtempSync(join(tmpdir(), 'syncs-'));
  repository = join(folder, 'repo');
  for (const name of ['one', 'two', 'three']) put(`webhooks/${name}.yaml`, 'secretName: orders-hook\n');
  await test.secret('orders-hook', 'a-token-for-these-tests');
  uid = await test.factory('shop', { kind: 'directory', path: repository });
});
afterEach(async () => {
  await test.stop();
  rmSync(folder, { recursive: true });
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), text);
}

function millwright(...argv: string[]): Promise<Call> {
  return call(argv, { environment: { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey } });
}

describe('a revision that applies', () => {
  it('is shown with its changes, once', async () => {
    put('webhooks/four.yaml', 'secretName: orders-hook\n');
    const first = await millwright('sync', 'shop');
    expect(first).toMatchObject({ code: 0, err: 'syncing shop …\n' });
    expect(first.out).toMatch(
      new RegExp(
        String.raw`^(\+ webhook four \(wh_\w{26}\) webhooks/four\.yaml\n1 to create, 0 to update, 0 to delete\.\n)?` +
          String.raw`shop: applied, serving sha256:[0-9a-f]{64}( \(no changes\))?\n$`,
      ),
    );
    const second = await millwright('sync');
    expect(second).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^shop: applied, serving sha256:[0-9a-f]{64} \(no changes\)\n$/),
    });
  });

  it('is shown by status, with what it serves', async () => {
    const { code, out } = await millwright('status', uid);
    expect(code).toBe(0);
    expect(out).toContain(`factory    shop (${uid})\ncondition  applied\n`);
    expect(out).toContain('inventory  3 webhooks\n\nKIND');
    expect(out).toContain(`webhook  two    applied  ${test.webhookUid('shop', 'two')}  webhooks/two.yaml\n`);
    expect(JSON.parse((await millwright('status', '--format', 'json')).out)).toMatchObject({
      factory_uid: uid,
      condition: { ending: 'applied' },
    });
  });

  it('is only asked for with --no-wait', async () => {
    expect(await millwright('sync', '--no-wait')).toMatchObject({ code: 0, out: 'shop: a pass is asked for\n' });
    expect(JSON.parse((await millwright('sync', '--no-wait', '--format', 'json')).out)).toMatchObject({
      generation_requested: expect.any(Number),
    });
  });

  it('warns without failing', async () => {
    put('factory.yaml', 'alias: Till\n');
    expect(await millwright('sync')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^factory\.yaml:1:1: warning: .* \[unsupported-here\]\n/),
    });
  });
});

describe('a revision that waits', () => {
  it('for a sync window ends with 1, and what happened is shown', async () => {
    await test.api('PATCH', `/factory/${uid}`, {
      sync_policy: { windows: [{ kind: 'deny', schedule: '* * * * *', duration_minutes: 1 }] },
    });
    put('webhooks/four.yaml', 'secretName: orders-hook\n');
    expect(await millwright('sync')).toMatchObject({ code: 1, out: expect.stringContaining('shop: blocked: sha256:') });
    const status = await millwright('status');
    expect(status).toMatchObject({
      code: 1,
      out: expect.stringContaining('the sync windows do not open within 400 days'),
    });
    expect(status.out).toMatch(/\nEVENT +REASON +MESSAGE\n\S+ +outside-sync-window +sha256:/);
  });

  it('for the approval of a rewritten history says so, and how to give it', async () => {
    const git = createRepository(folder, 'git');
    const file = {
      'webhooks/one.yaml': 'secretName: orders-hook\n',
      'webhooks/two.yaml': 'secretName: orders-hook\n',
      'webhooks/three.yaml': 'secretName: orders-hook\n',
    };
    const before = git.commit(file);
    await test.api('PATCH', `/factory/${uid}`, {
      source: { kind: 'git', url: `file://${git.folder}`, branch: 'main' },
      sync_policy: { fast_forward_only: true },
    });
    expect((await millwright('sync')).code).toBe(0);
    const after = git.commit(file, { rewrite: true, message: 'another' });
    const held = await millwright('sync');
    expect(held).toMatchObject({
      code: 4,
      out: expect.stringContaining(`held: history rewritten from main@sha1:${before} to main@sha1:${after}\n`),
    });
    const digest = /millwright approve shop (sha256:[0-9a-f]{64})/.exec(held.err)?.[1] ?? '';
    expect((await millwright('approve', 'shop', digest)).code).toBe(0);
    expect((await millwright('sync')).code).toBe(0);
    expect((await millwright('status')).out).toContain('\nhistory    the history was rewritten: ');
  });
});

describe('a revision with problems', () => {
  beforeEach(() => put('webhooks/two.yaml', 'secretname: orders-hook\n'));

  it('ends with 1 and every problem, each time, while the last good state serves', async () => {
    const expected = [
      'webhooks/two.yaml:1:1: unknown key "secretname"; did you mean "secretName"? [unknown-key]',
      'webhooks/two.yaml:1:1: missing key "secretName"; add it [missing-key]',
      expect.stringMatching(
        /^shop: blocked: 2 problems in the files of sha256:[0-9a-f]{64}; what was applied before keeps serving$/,
      ),
      '',
    ];
    for (const time of [1, 2]) {
      const { code, out } = await millwright('sync');
      expect({ time, code, lines: out.split('\n') }).toEqual({ time, code: 1, lines: expected });
    }
    const status = await millwright('status');
    expect(status.code).toBe(1);
    expect(status.out).toContain(`inventory  3 webhooks\n\n${expected[0] as string}\n`);
  });

  it('is in the list of passes', async () => {
    await millwright('sync');
    const { code, out } = await millwright('syncs', 'shop');
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toMatch(/^ENDED +ENDING +TRIGGERS +CHANGES +PROBLEMS +REVISION +MESSAGE$/);
    expect(out.split('\n')[1]).toMatch(/Z {2}blocked +\S+ +- +2 +sha256:[0-9a-f]{12} +2 problems in the files/);
    expect(out).toMatch(/Z {2}applied +\S+ +\+3 ~\d -0 +- +sha256:[0-9a-f]{12}\n/);
    const page = await millwright('syncs', '--limit', '1');
    expect(page.out.split('\n')).toHaveLength(3);
    const cursor = /^there are more: --cursor (\S+)\n$/.exec(page.err)?.[1] ?? '';
    expect((await millwright('syncs', '--limit', '1', '--cursor', cursor)).out).toContain('applied');
  });

  it('ends with 1 where the rest of the files applies too', async () => {
    put('webhooks/two.yaml', 'secretName: orders-hook\n');
    put('factory.yaml', 'applyMode: perFile\n');
    expect(await millwright('sync')).toMatchObject({ code: 0 });
    put('webhooks/two.yaml', 'secretname: orders-hook\n');
    put('webhooks/four.yaml', 'secretName: orders-hook\n');
    const { code, out } = await millwright('sync');
    expect(code).toBe(1);
    expect(out).toContain('[missing-key]');
    expect(out).toContain('shop: applied, serving');
  });
});

describe('a repository that cannot be read', () => {
  it('ends with 3', async () => {
    renameSync(repository, `${repository}.away`);
    const result = await millwright('sync');
    expect(result).toMatchObject({
      code: 3,
      out: expect.stringMatching(/^shop: failed: the factory directory does not exist/),
    });
    expect(await millwright('status')).toMatchObject({ code: 3 });
  });
});

describe('deletions that the guard holds', () => {
  beforeEach(() => {
    for (const name of ['one', 'two', 'three']) rmSync(join(repository, `webhooks/${name}.yaml`));
    put('factory.yaml', 'name: Shop\n');
  });

  it('end with 4 until their digest is approved', async () => {
    const held = await millwright('sync');
    expect(held.code).toBe(4);
    expect(held.out).toMatch(
      new RegExp(
        String.raw`^held: deletion of webhook one \(webhooks/one\.yaml\)\n(held: .*\n){2}` +
          'shop: blocked: this revision would delete',
      ),
    );
    expect(await millwright('status')).toMatchObject({ code: 4 });
    const digest = /millwright approve shop (sha256:[0-9a-f]{64})\n/.exec(held.err)?.[1] ?? '';
    expect(await millwright('approve', digest)).toMatchObject({
      code: 0,
      err: '',
      out: 'shop: approved; see it applied with: millwright sync shop\n',
    });
    expect(await millwright('sync')).toMatchObject({ code: 0 });
    expect(JSON.parse((await millwright('status', '--format', 'json')).out)).toMatchObject({ inventory: [] });
  });

  it('are shown by status, and approved, while the repository is away', async () => {
    const held = await millwright('sync');
    const wayOut = /to let them go: millwright approve shop (sha256:[0-9a-f]{64})\n/;
    const [, digest = ''] = wayOut.exec(held.err) ?? [];
    renameSync(repository, `${repository}.away`);
    expect(await millwright('sync')).toMatchObject({ code: 3 });
    const status = await millwright('status');
    expect(status.code).toBe(3);
    expect(status.out).toMatch(/\n\nheld: deletion of webhook one \(webhooks\/one\.yaml\)\n(held: .*\n){2}\nKIND /);
    expect(wayOut.exec(status.err)?.[1]).toBe(digest);
    expect(JSON.parse((await millwright('status', '-o', 'json')).out)).toMatchObject({
      last_sync: { ending: 'failed', plan: null },
      held_sync: { ending: 'blocked', reason: 'prune-held', plan: digest },
    });
    expect(await millwright('approve', digest)).toMatchObject({ code: 0 });
    renameSync(`${repository}.away`, repository);
    expect(await millwright('sync')).toMatchObject({ code: 0 });
    const after = await millwright('status', '-o', 'json');
    expect(JSON.parse(after.out)).toMatchObject({ held_sync: null, inventory: [] });
  });

  it('are not approved by another digest', async () => {
    await millwright('sync');
    const other = `sha256:${'0'.repeat(64)}`;
    expect(await millwright('approve', 'shop', other)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'is held now, so that nothing was approved\n  see what is held: millwright status shop',
      ),
    });
    expect(await millwright('sync')).toMatchObject({ code: 4 });
  });
});

it('a suspended factory is not reconciled, and sync says so', async () => {
  await test.api('POST', `/factory/${uid}/suspend`);
  put('webhooks/four.yaml', 'secretName: orders-hook\n');
  expect(await millwright('sync')).toMatchObject({
    code: 1,
    err: expect.stringContaining('shop is suspended, so that its definitions were not reconciled'),
  });
  expect(await millwright('status')).toMatchObject({ code: 0, out: expect.stringContaining('suspended  yes') });
});

it('a factory without files is fine, and says so', async () => {
  await test.api('POST', '/factory', { slug: 'by-hand', source: { kind: 'dashboard' } });
  expect(await millwright('status', 'by-hand')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^condition +managed over the API, so there are no files to read$/m),
  });
  expect(await millwright('wait', 'by-hand', '--revision', '1234567')).toMatchObject({
    code: 64,
    err: expect.stringContaining('by-hand is managed over the API: it follows no files'),
  });
  expect(await millwright('sync', 'by-hand')).toMatchObject({
    code: 0,
    out: 'by-hand: managed over the API, so there are no files to read\n',
  });
});

it('webhooks that lost their secret stand out', async () => {
  await test.api('DELETE', '/secrets/orders-hook?force=true');
  await test.api('POST', `/factory/${uid}/sync?wait=true`);
  expect((await millwright('status', 'shop')).out).toMatch(
    /^secrets +these webhooks have no secret with a value and refuse every delivery: one, three, two$/m,
  );
});

describe('which factory', () => {
  it('is refused with a reason when it cannot be told', async () => {
    const rows: [argv: string[], message: string, exit?: number][] = [
      [['status', 'nope'], 'there is no factory nope that this key may see\n  it may see shop\n', 5],
      [['status', 'fac_00000000000000000000000000'], 'the factory was not found', 5],
      [['status', 'No Such'], 'FACTORY must be the slug of a factory or its UID'],
      [['approve', 'shop'], 'DIGEST must be sha256: and 64 hexadecimal digits'],
      [['approve'], '[FACTORY] DIGEST is missing'],
      [['sync', 'a', 'b'], 'takes nothing besides [FACTORY]'],
      [['sync', '--timeout', 'soon'], '--timeout must be a whole number'],
      [['syncs', '--limit', '0'], '--limit must be a whole number from 1 to 500'],
      [['status', '--format', 'xml'], '--format must be text, json or yaml'],
      [['status', ''], 'an argument is empty'],
    ];
    for (const [argv, message, exit = 64] of rows) {
      expect({ argv, ...(await millwright(...argv)) }).toEqual({
        argv,
        code: exit,
        out: '',
        err: expect.stringContaining(message),
      });
    }
  });

  it('has to be said when there are several', async () => {
    mkdirSync(join(folder, 'other'));
    await test.factory('other', { kind: 'directory', path: join(folder, 'other') });
    const { code, err } = await millwright('status');
    expect(code).toBe(64);
    expect(err).toMatch(/there are several factories, so name one: (other, shop|shop, other)\n/);
    expect(await millwright('status', 'shop')).toMatchObject({ code: 0 });
  });
});
