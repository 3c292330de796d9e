/**
 * `millwright webhooks`, `send` and `deliveries` against a real service: what `send` signs is accepted under every
 * scheme.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SIGNATURE_SCHEMES } from '#authentication';
import { bootService, eventually, type TestService } from '../../../test/support/services/service.ts';
import { call, type Call, type CallOptions } from '../../../test/support/services/recorded-io.ts';

const SCHEMES = ['token', 'url_token', ...SIGNATURE_SCHEMES.keys()];
const PLAIN = 'hunter2-hunter2-hunter2-hunter2';
const WHSEC = `whsec_${Buffer.from('hunter2-hunter2-hunter2-hunter2').toString('base64')}`;
const BODY = '{"status": "failed",  "ä": 1}\n';

let test: TestService;
let folder: string;
let uid: string;
const printed: string[] = [];

beforeAll(async () => {
  test = await bootService();
  folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  mkdirSync(join(folder, 'repo/webhooks'), { recursive: true });
  mkdirSync(join(folder, 'repo/automations/triage'), { recursive: true });
  for (const scheme of SCHEMES) {
    writeFileSync(join(folder, scheme), `${secretOf(scheme)}\n`);
    await test.secret(`${scheme}-secret`, secretOf(scheme));
    const mode = SIGNATURE_SCHEMES.has(scheme)
      ? `authMode: signature\nsignatureScheme: ${scheme}`
      : `authMode: ${scheme}`;
    writeFileSync(join(folder, `repo/webhooks/${slugOf(scheme)}.yaml`), `${mode}\nsecretName: ${scheme}-secret\n`);
  }
  const trigger =
    'triggers:\n  - provider: webhook\n    event: received\n    filter: {webhooks: [token], payload: {status: ' +
    '[failed]}}\n';
  writeFileSync(join(folder, 'repo/automations/triage/automation.md'), `---\n${trigger}---\nLook.\n`);
  writeFileSync(join(folder, 'body.json'), BODY);
  uid = await test.factory('shop', { kind: 'directory', path: join(folder, 'repo') });
});
afterAll(async () => {
  await test.stop();
  rmSync(folder, { recursive: true });
});

function secretOf(scheme: string): string {
  return scheme === 'standard_webhooks' ? WHSEC : PLAIN;
}

function slugOf(scheme: string): string {
  return scheme.replace('_', '-');
}

async function millwright(argv: string[], options: CallOptions = {}): Promise<Call> {
  const result = await call(argv, {
    environment: { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey },
    cwd: folder,
    ...options,
  });
  printed.push(result.out, result.err);
  return result;
}

function urlOf(scheme: string): string {
  return `${test.ingressUrl('shop', slugOf(scheme))}${scheme === 'url_token' ? '/{token}' : ''}`;
}

async function latest(scheme: string): Promise<Record<string, unknown>> {
  const { body } = await test.api(
    'GET',
    `/factory/${uid}/webhooks/${test.webhookUid('shop', slugOf(scheme))}/deliveries?limit=1`,
  );
  return (body['deliveries'] as Record<string, unknown>[])[0] ?? {};
}

describe('millwright send', () => {
  it.each(SCHEMES)('is accepted under %s, with the identity and the very bytes', async (scheme) => {
    const result = await millwright([
      'send',
      urlOf(scheme),
      '--scheme',
      scheme,
      '--secret-file',
      scheme,
      '--data',
      'body.json',
      '--delivery-id',
      `event-${scheme}`,
    ]);
    expect(result).toEqual({ code: 0, out: `202 accepted: delivery event-${scheme}\n`, err: '' });
    const entry = await latest(scheme);
    expect(entry).toMatchObject({ outcome: 'Accepted', delivery_id: `event-${scheme}`, size: Buffer.byteLength(BODY) });
    const path =
      `/factory/${uid}/webhooks/${test.webhookUid('shop', slugOf(scheme))}` +
      `/deliveries/${String(entry['entry_id'])}/payload`;
    const payload = await fetch(`${test.url}/api/v1${path}`, { headers: { authorization: `Bearer ${test.adminKey}` } });
    expect(await payload.text()).toBe(BODY);
  });

  it.each(SCHEMES)('is refused under %s with another secret', async (scheme) => {
    writeFileSync(
      join(folder, 'wrong'),
      scheme === 'standard_webhooks' ? `whsec_${'A'.repeat(32)}` : 'quite-another-secret-than-that',
    );
    const result = await millwright(['send', urlOf(scheme), '--scheme', scheme, '--secret-file', 'wrong']);
    expect(result).toEqual({ code: 1, out: '', err: 'millwright send: not accepted: 401 authentication failed\n' });
    expect(await latest(scheme)).toMatchObject({ outcome: 'Rejected (auth)' });
  });

  it('is a new delivery each time, unless it is given an identity', async () => {
    const send = ['send', urlOf('github'), '--scheme', 'github', '--secret-file', 'github', '--format', 'json'];
    const ids = [await millwright(send), await millwright(send)].map(
      ({ out }) => (JSON.parse(out) as { delivery_id: string }).delivery_id,
    );
    expect(new Set(ids).size).toBe(2);
    expect(await millwright([...send, '--delivery-id', ids[0] ?? ''])).toMatchObject({ code: 0 });
    expect(await latest('github')).toMatchObject({ outcome: 'Duplicate', delivery_id: ids[0] });
  });

  it('takes the body from stdin, and the URL of a url_token webhook with and without its {token}', async () => {
    const send = ['--scheme', 'url_token', '--secret-file', 'url_token', '--data', '-'];
    for (const end of ['', '/', '/{token}', '/%7Btoken%7D']) {
      const result = await millwright(['send', `${test.ingressUrl('shop', 'url-token')}${end}`, ...send], {
        stdin: `[${Math.random()}]`,
      });
      expect(result).toMatchObject({ code: 0 });
    }
  });

  it.each<[argv: string[], options: CallOptions, code: number, message: string]>([
    [['--data', 'bad'], {}, 1, 'not accepted: 400 body is not valid JSON'],
    [['--data', 'huge'], {}, 1, 'not accepted: 413 '],
    [['--secret-file', 'short'], {}, 1, 'the secret cannot serve here: a bearer token must be 16 to 512'],
    [['--secret-file', 'not-there'], {}, 64, 'cannot be read (ENOENT)'],
    [['--data', 'not-there'], {}, 64, 'cannot be read (ENOENT)'],
    [['--data', '-', '--secret-file', '-'], {}, 64, 'stdin cannot be both'],
    [['--data', '-'], { terminalColumns: 80 }, 64, 'stdin is a terminal'],
    [['--scheme', 'rot13'], {}, 64, '--scheme must be one of token, url_token, github'],
    [['--delivery-id', 'a b'], {}, 64, '--delivery-id must be'],
    [['--delivery-id', 'x'.repeat(256)], {}, 64, '--delivery-id must be'],
  ])('%j is refused', async (argv, options, code, message) => {
    writeFileSync(join(folder, 'bad'), '{"a":');
    writeFileSync(join(folder, 'huge'), `"${'x'.repeat(262_144)}"`);
    writeFileSync(join(folder, 'short'), 'hunter2');
    const result = await millwright(
      ['send', urlOf('token'), '--scheme', 'token', '--secret-file', 'token', ...argv],
      options,
    );
    expect(result).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });

  it.each<[url: string, scheme: string, message: string, why: string]>([
    [
      'http://127.0.0.1:1/webhooks/w/wh_00000000000000000000000000',
      'token',
      'http://127.0.0.1:1 cannot be reached',
      'nobody listens',
    ],
    [
      `http://127.0.0.1:1/webhooks/w/wh_00000000000000000000000000/${PLAIN}`,
      'url_token',
      'without any token',
      'the token pasted into the URL',
    ],
    [
      'http://127.0.0.1:1/webhooks/w/wh_00000000000000000000000000/{token}',
      'token',
      'give --scheme url_token',
      'the URL of another mode',
    ],
    [`http://127.0.0.1:1/hooks/${PLAIN}`, 'token', 'URL must be an ingress URL', 'some other address'],
    [
      `http://user:${PLAIN}@127.0.0.1:1/webhooks/w/wh_00000000000000000000000000`,
      'token',
      'must hold no user or password',
      'a password in the URL',
    ],
    [
      `http://127.0.0.1:1/webhooks/w/wh_00000000000000000000000000?t=${PLAIN}`,
      'token',
      'must hold no query',
      'a token in the query',
    ],
    [
      'http://hooks.example.com/webhooks/w/wh_00000000000000000000000000',
      'token',
      'URL must be https',
      'a token over plain http',
    ],
    [PLAIN, 'token', 'must be an address that starts with http', 'no URL'],
  ])('the URL is refused and not repeated: %# (%s)', async (url, scheme, message) => {
    const { code, out, err } = await millwright(['send', url, '--scheme', scheme, '--secret-file', scheme]);
    expect({ code, out }).toEqual({ code: message.includes('reached') ? 3 : 64, out: '' });
    expect(err).toContain(message);
  });
});

describe('millwright webhooks', () => {
  it('lists them with URLs that hold no token', async () => {
    const { code, out } = await millwright(['webhooks', 'shop']);
    expect(code).toBe(0);
    expect(out).toMatch(/^NAME +ENABLED +AUTHENTICATION +SECRET +LAST DELIVERY +URL\n/);
    expect(out).toMatch(/\ngithub +yes +signature github +github-secret +\S+Z +http:\S+\/webhooks\/w\/wh_\w{26}\n/);
    expect(out).toMatch(
      /\nurl-token +yes +url_token +url_token-secret +\S+Z +http:\S+\/webhooks\/w\/wh_\w{26}\/\{token\}\n/,
    );
    expect(JSON.parse((await millwright(['webhooks', '--format', 'json'])).out)).toMatchObject({
      webhooks: SCHEMES.map(() => ({ enabled: true })),
    });
  });
});

describe('millwright deliveries', () => {
  it('shows what became of each, newest first', async () => {
    await millwright(
      ['send', urlOf('token'), '--scheme', 'token', '--secret-file', 'token', '--data', '-', '--delivery-id', 'quiet'],
      { stdin: '{"status": "ok"}' },
    );
    const byName = await millwright(['deliveries', 'shop', 'token']);
    expect(byName.code).toBe(0);
    expect(byName.out).toMatch(
      new RegExp(
        String.raw`^ENTRY +RECEIVED +OUTCOME +SIZE +FROM +DELIVERY ID +RESULT\n[0-9a-f-]{36} +\S+Z +Accepted +16 +` +
          String.raw`\S+ +quiet +no run: [a-z-]+: filter failed at /status \(in\)\n`,
      ),
    );
    expect(byName.out).toMatch(
      new RegExp(
        `\\n[0-9a-f-]{36} +\\S+Z +Accepted +${Buffer.byteLength(BODY)} +\\S+ +event-token +run [0-9a-f-]{36}\\n`,
      ),
    );
    expect(byName.out).toMatch(/\n[0-9a-f-]{36} +\S+Z +Rejected \(auth\) +\S+ +\S+ +\S+ +mismatch\n/);
    // The first column is what `explain` wants.
    expect(await millwright(['explain', byName.out.split('\n')[1]?.split(' ')[0] ?? ''])).toMatchObject({
      code: 0,
      out: expect.stringContaining('  identity quiet\n'),
    });
    const page = await millwright(['deliveries', test.webhookUid('shop', 'token'), '--limit', '1']);
    expect(page).toMatchObject({ code: 0, err: expect.stringMatching(/^there are more: --cursor \S+\n$/) });
    expect(page.out.split('\n')).toHaveLength(3);
    const json = await millwright(['deliveries', 'token', '--limit', '1', '--format', 'json']);
    expect(JSON.parse(json.out)).toMatchObject({
      deliveries: [{ delivery_id: 'quiet', skipped: [{ reason: 'filter' }] }],
    });
  });

  it('shows those above the rate as one, with their number', async () => {
    const url = `${test.ingressUrl('shop', 'url-token')}/${PLAIN}`;
    const send = (n: number) => fetch(url, { method: 'POST', body: `[${n}]` });
    const answers = await Promise.all(Array.from({ length: 70 }, (_, n) => send(n)));
    const throttled = answers.filter(({ status }) => status === 429).length;
    expect(throttled).toBeGreaterThanOrEqual(10);
    await eventually('the number is written', async () => {
      const { out } = await millwright(['deliveries', 'url-token', '--limit', '100']);
      return new RegExp(`\\n[0-9a-f-]{36} +\\S+Z +Throttled ×${throttled} +\\S+ +\\S+ +\\S+ +over-rate\\n`).test(out)
        ? true
        : undefined;
    });
  });

  it('delivers an accepted one again', async () => {
    const {
      deliveries: [entry],
    } = JSON.parse((await millwright(['deliveries', 'token', '--limit', '1', '--format', 'json'])).out) as {
      deliveries: { entry_id: string }[];
    };
    const id = entry?.entry_id ?? '';
    const again = await millwright(['deliveries', 'resend', 'token', id.toUpperCase()]);
    expect(again).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(
        new RegExp(`^[0-9a-f-]{36}: resend:${id}:1, no run: [a-z-]+: filter failed at /status \\(in\\)\n$`),
      ),
    });
    expect(await millwright(['explain', again.out.slice(0, 36)])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`see: millwright explain ${id}`),
    });
    const json = await millwright(['deliveries', 'resend', 'shop', 'token', id, '--format', 'json']);
    expect(JSON.parse(json.out)).toMatchObject({ resent_from: id, delivery_id: `resend:${id}:2` });
  });

  it.each<[argv: string[], message: string, exit?: number]>([
    [['deliveries', 'resend', 'token'], '[FACTORY] WEBHOOK ENTRY is missing'],
    [['deliveries', 'resend', 'token', 'quiet'], 'ENTRY must be the entry_id of a delivery'],
    [
      ['deliveries', 'shop', 'nope'],
      `factory shop has no webhook nope; it has ${SCHEMES.map(slugOf).sort().join(', ')}`,
      5,
    ],
    [['deliveries', 'a/b'], 'WEBHOOK must be the name of a webhook or its UID'],
    [['deliveries'], '[FACTORY] WEBHOOK is missing'],
  ])('%j is refused', async (argv, message, exit = 64) => {
    expect(await millwright(argv)).toMatchObject({ code: exit, out: '', err: expect.stringContaining(message) });
  });
});

it('no secret and no key has been printed or logged', () => {
  for (const text of [...printed, ...test.logged]) {
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain(WHSEC);
    expect(text).not.toContain(test.adminKey);
  }
});
