/** A delivery log from the command line: by outcome, as it grows, and the bytes of one entry. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, type Call, type CallOptions } from '../../../../test/support/services/recorded-io.ts';
import { bootService, eventually, type TestService } from '../../../../test/support/services/service.ts';

const TOKEN = 'a-token-of-many-characters';
const BODY = '{"text": "a\u202eb"}';

let test: TestService;
let folder: string;
let entry: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deliveries-'));
  test = await bootService();
  await test.secret('hook', TOKEN);
  mkdirSync(join(folder, 'repo/webhooks'), { recursive: true });
  writeFileSync(join(folder, 'repo/webhooks/orders.yaml'), 'authMode: token\nsecretName: hook\n');
  await test.factory('shop', { kind: 'directory', path: join(folder, 'repo') });
  await post(BODY, 'first');
  await post(BODY, 'first');
  await post('{}', 'other', 'wrong-token-of-many-characters');
  await post('{', 'broken');
  const { deliveries } = JSON.parse((await millwright(['orders', '--outcome', 'accepted', '-o', 'json'])).out) as {
    deliveries: { entry_id: string }[];
  };
  entry = deliveries[0]?.entry_id ?? '';
});
afterAll(async () => {
  await test.stop();
  rmSync(folder, { recursive: true });
});

async function post(body: string, id: string, token = TOKEN): Promise<void> {
  await fetch(test.ingressUrl('shop', 'orders'), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-millwright-delivery-id': id, 'content-type': 'application/json' },
    body,
  });
}

function millwright(argv: string[], options: CallOptions = {}): Promise<Call> {
  const environment = { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey };
  return call(['deliveries', ...argv], { environment, cwd: folder, ...options });
}

describe('--outcome', () => {
  it.each([
    ['accepted', ['Accepted']],
    ['duplicate,accepted', ['Accepted', 'Duplicate']],
    ['rejected', ['Rejected (auth)', 'Rejected (invalid JSON)']],
    ['auth,auth', ['Rejected (auth)']],
    ['Invalid-JSON', ['Rejected (invalid JSON)']],
  ])('%s shows %j', async (outcome, expected) => {
    await eventually('the log has them all', async () => {
      const { out } = await millwright(['orders', '--outcome', outcome, '-o', 'json']);
      const { deliveries } = JSON.parse(out) as { deliveries: { outcome: string }[] };
      const found = [...new Set(deliveries.map((each) => each.outcome))].sort();
      return JSON.stringify(found) === JSON.stringify(expected) ? true : undefined;
    });
  });

  it('says what there is, and that there is none', async () => {
    expect(await millwright(['orders', '--outcome', 'lost'])).toMatchObject({
      code: 64,
      err: expect.stringContaining('--outcome takes accepted, duplicate, auth, invalid-json, too-large, rejected'),
    });
    expect(await millwright(['orders', '--outcome', 'too-large'])).toEqual({
      code: 0,
      out: '',
      err: 'webhook orders has no such deliveries\n',
    });
  });
});

describe('--follow', () => {
  it('prints what there is, oldest first, and each new one once', async () => {
    let printed = '';
    const following = millwright(['shop', 'orders', '--follow', '--outcome', 'accepted', '--limit', '3'], {
      heard: (text) => (printed = text),
    });
    const prints = (id: string): Promise<true> =>
      eventually(`it prints ${id}`, () => (printed.includes(id) ? (true as const) : undefined));
    await prints('first');
    for (const id of ['second', 'third']) await post('{}', id);
    await post('{}', 'refused', 'wrong-token-of-many-characters');
    await prints('third');
    // With one more look, in which those of before could come again.
    await post('{}', 'fourth');
    await prints('fourth');
    process.emit('SIGINT');
    const { code, out, err } = await following;
    expect({ code, err }).toEqual({ code: 0, err: 'deliveries of webhook orders of factory shop:\n' });
    const words = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  '));
    expect(words.map(([, , outcome]) => outcome)).toEqual(Array.from({ length: 4 }, () => 'Accepted'));
    expect(words.map((cells) => cells[5])).toEqual(['first', 'second', 'third', 'fourth']);
  });
});

describe('payload', () => {
  it('prints the very bytes, for programs and for people', async () => {
    expect(await millwright(['payload', 'orders', entry])).toEqual({ code: 0, out: BODY, err: '' });
    expect((await millwright(['payload', 'shop', 'orders', entry], { terminalColumns: 80 })).out).toBe(
      '{"text": "a\\u{202e}b"}\n',
    );
    expect(JSON.parse((await millwright(['payload', 'orders', entry, '-o', 'json'])).out)).toEqual({
      entry_id: entry,
      size: Buffer.byteLength(BODY),
      encoding: 'utf-8',
      payload: BODY,
    });
  });

  it('saves them where nobody else reads, and overwrites nothing', async () => {
    const save = ['payload', 'orders', entry, '--save', 'body.json'];
    expect(await millwright(save)).toMatchObject({ code: 0, out: '' });
    const file = join(folder, 'body.json');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([BODY, 0o600]);
    writeFileSync(file, 'mine');
    expect(await millwright(save)).toMatchObject({ code: 1, err: expect.stringContaining('there is a file') });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await millwright([...save, '--force'])).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(BODY);
  });

  it.each<[argv: string[], code: number, message: string]>([
    [['payload', 'orders', '00000000-0000-7000-8000-000000000000'], 5, 'not found'],
    [['payload', 'orders', 'x'], 64, 'ENTRY must be the entry_id'],
    [['payload', 'orders', '00000000-0000-7000-8000-000000000000', '--force'], 64, '--force needs --save'],
    [['payload', 'orders'], 64, '[FACTORY] WEBHOOK ENTRY is missing'],
    [['orders', '--follow', '--cursor', 'x'], 64, '--follow begins with the newest'],
  ])('%j is refused with %d', async (argv, code, message) => {
    expect(await millwright(argv)).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });
});
