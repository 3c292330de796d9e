/**
 * Push notices of every forge, made by the forges' own libraries and by openssl; and everything that proves nothing.
 */
import { sign as signLikeGitHub } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { headersFromRaw, isPushSecret, mayProvePush, verifyPushNotice } from './index.ts';

const NOW_MS = 1_700_000_000_000;
const SECRET = 'push-secret-of-sixteen';
const BODY = '{"ref":"refs/heads/main"}';
/** `printf '{"ref":"refs/heads/main"}' | openssl dgst -sha256 -hmac push-secret-of-sixteen` */
const BY_OPENSSL = '5484cb3fcda2da7e35968d06da22478efd7881916d42af1664f5a2f72085d11a';
const SIGNING_TOKEN = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const proves = (
  headers: readonly string[],
  { secret = SECRET, body = BODY, nowMs = NOW_MS }: { secret?: string; body?: string; nowMs?: number } = {},
): boolean =>
  verifyPushNotice(Buffer.from(secret), { headers: headersFromRaw(headers), body: Buffer.from(body), nowMs });

function gitlabSigned(secret = SIGNING_TOKEN, atMs = NOW_MS, body = BODY): string[] {
  const signature = new Webhook(secret).sign('b2c5f6', new Date(atMs), body);
  return ['webhook-id', 'b2c5f6', 'webhook-timestamp', String(atMs / 1000), 'webhook-signature', signature];
}

describe('a notice proves knowledge of the secret', () => {
  it('as GitHub documents it', () => {
    const documented = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    expect(
      proves(['X-Hub-Signature-256', documented], { secret: "It's a Secret to Everybody", body: 'Hello, World!' }),
    ).toBe(true);
  });

  it("as GitHub's own library signs it", async () => {
    const form = `payload=${encodeURIComponent(BODY)}`;
    for (const body of [BODY, form])
      expect(proves(['x-hub-signature-256', await signLikeGitHub(SECRET, body)], { body })).toBe(true);
  });

  it.each([
    ['X-Hub-Signature-256', `sha256=${BY_OPENSSL}`],
    ['X-Gitea-Signature', BY_OPENSSL],
    ['X-Forgejo-Signature', BY_OPENSSL],
    ['X-Millwright-Signature-256', `sha256=${BY_OPENSSL}`],
    ['X-Gitlab-Token', SECRET],
  ])('in the header %s', (name, value) => {
    expect(proves([name, value])).toBe(true);
    expect(proves([name, value], { secret: `${SECRET}x` })).toBe(false);
    if (name !== 'X-Gitlab-Token') expect(proves([name, value], { body: `${BODY} ` })).toBe(false);
  });

  it('as GitLab signs it with a signing token, within five minutes', () => {
    expect(proves(gitlabSigned(), { secret: SIGNING_TOKEN })).toBe(true);
    expect(proves(gitlabSigned(), { secret: SIGNING_TOKEN, nowMs: NOW_MS + 300_000 })).toBe(true);
    expect(proves(gitlabSigned(), { secret: SIGNING_TOKEN, nowMs: NOW_MS + 301_000 })).toBe(false);
    expect(proves(gitlabSigned(), { secret: SIGNING_TOKEN, body: '{}' })).toBe(false);
    expect(proves(gitlabSigned(), { secret: SECRET })).toBe(false);
  });

  it('with GitLab’s token where the signing token is another secret, and the other way round', () => {
    const both = [...gitlabSigned(), 'X-Gitlab-Token', SECRET];
    expect([
      proves(both),
      proves(both, { secret: SIGNING_TOKEN }),
      proves(both, { secret: 'a-third-secret-of-sixteen' }),
    ]).toEqual([true, true, false]);
    // Without a signing token GitLab sends the other two headers all the same.
    expect(proves(['webhook-id', 'b2c5f6', 'webhook-timestamp', '1700000000', 'X-Gitlab-Token', SECRET])).toBe(true);
  });
});

describe('a notice proves nothing', () => {
  const hub = ['X-Hub-Signature-256', `sha256=${BY_OPENSSL}`];
  const refused: [why: string, headers: readonly string[]][] = [
    ['without a header', []],
    ['with an empty header', ['X-Hub-Signature-256', '']],
    ['with the older digest of the same body', ['X-Hub-Signature', 'sha1=0123456789012345678901234567890123456789']],
    ['without the prefix', ['X-Hub-Signature-256', BY_OPENSSL]],
    ['with a prefix where none belongs', ['X-Gitea-Signature', `sha256=${BY_OPENSSL}`]],
    ['in upper case', ['X-Gitea-Signature', BY_OPENSSL.toUpperCase()]],
    ['cut by one', ['X-Gitea-Signature', BY_OPENSSL.slice(0, -1)]],
    ['with a header that is there twice', [...hub, ...hub]],
    ['with another header twice beside a valid one', [...hub, 'X-Gitlab-Token', SECRET, 'X-Gitlab-Token', SECRET]],
    ['with a second, empty one', [...hub, 'x-hub-signature-256', '']],
    ['with a token that is a part of the secret', ['X-Gitlab-Token', SECRET.slice(0, -1)]],
    [
      'with the secret in a header that is no proof',
      ['Authorization', `Bearer ${SECRET}`, 'X-Millwright-Token', SECRET],
    ],
  ];
  it.each(refused)('%s', (_why, headers) => expect(proves(headers)).toBe(false));

  it('with a key that anybody knows: an empty or short secret, a token under sixteen characters', async () => {
    expect(isPushSecret(Buffer.from('1234567'))).toBe(false);
    expect(proves(['X-Hub-Signature-256', await signLikeGitHub('1234567', BODY)], { secret: '1234567' })).toBe(false);
    expect(proves(['X-Gitlab-Token', 'only-fifteen-ch'], { secret: 'only-fifteen-ch' })).toBe(false);
    expect(
      proves(['X-Hub-Signature-256', await signLikeGitHub('only-fifteen-ch', BODY)], { secret: 'only-fifteen-ch' }),
    ).toBe(true);
  });
});

it('a head that can go with no proof is known before the body is', () => {
  const may = (...headers: string[]): boolean => mayProvePush(headersFromRaw(headers));
  expect([
    may(),
    may('X-Gitlab-Token', ''),
    may('webhook-id', 'x'),
    may('X-Gitlab-Token', 'x', 'X-Gitlab-Token', 'x'),
  ]).toEqual([false, false, false, false]);
  expect([may('X-Gitlab-Token', 'x'), may('webhook-signature', 'x'), may('X-Forgejo-Signature', 'x')]).toEqual([
    true,
    true,
    true,
  ]);
});
