/** Request targets, split without any framework's help. */
import * as fc from 'fast-check';
import { hasEncodedUnreserved, ingressUrlOf, routeFor, splitIngressPath } from './index.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const UID = 'wh_0123456789abcdefghjkmnpqrs';
const NOT_FOUND = 'not-found';

it.each(['token', 'signature', 'url_token'] as const)(
  'ingressUrlOf: the address of a %s webhook leads to it',
  (mode) => {
    const path = splitIngressPath(new URL(ingressUrlOf('https://in.example', UID, mode)).pathname);
    expect(path).toEqual({
      kind: 'webhook',
      uid: UID,
      deeper: false,
      ...(mode === 'url_token' ? { token: { decoded: '{token}' } } : {}),
    });
    expect(path.kind === 'webhook' && routeFor(mode, path).ok).toBe(true);
  },
);

describe('splitIngressPath and routeFor', () => {
  it.each([
    { url: `/webhooks/w/${UID}`, signature: undefined, urlToken: '', why: 'no token' },
    { url: `/webhooks/w/${UID}/`, signature: undefined, urlToken: '', why: 'one trailing slash is ignored' },
    { url: `/webhooks/w/${UID}?a=/b/c`, signature: undefined, urlToken: '', why: 'the query is ignored' },
    { url: `/webhooks/w/${UID}/?a=1?b=2`, signature: undefined, urlToken: '', why: 'slash and query are ignored' },
    { url: `/webhooks/w/${UID}/tok`, signature: NOT_FOUND, urlToken: 'tok', why: 'a further segment' },
    { url: `/webhooks/w/${UID}/tok/`, signature: NOT_FOUND, urlToken: 'tok', why: 'one trailing slash is ignored' },
    { url: `/webhooks/w/${UID}/tok?x`, signature: NOT_FOUND, urlToken: 'tok', why: 'the query is ignored' },
    { url: `/webhooks/w/${UID}/a%2Fb`, signature: NOT_FOUND, urlToken: 'a/b', why: '%2F makes no segment' },
    { url: `/webhooks/w/${UID}/a%252Fb`, signature: NOT_FOUND, urlToken: 'a%2Fb', why: 'decoded once' },
    { url: `/webhooks/w/${UID}/a+b`, signature: NOT_FOUND, urlToken: 'a+b', why: 'a plus is a plus' },
    { url: `/webhooks/w/${UID}/%zz`, signature: NOT_FOUND, urlToken: '', why: 'an undecodable token is no token: 401' },
    { url: `/webhooks/w/${UID}/%ff`, signature: NOT_FOUND, urlToken: '', why: 'no UTF-8 behind the percent signs' },
    { url: `/webhooks/w/${UID}//`, signature: NOT_FOUND, urlToken: '', why: 'an empty further segment is one' },
    { url: `/webhooks/w/${UID}/tok//`, signature: NOT_FOUND, urlToken: NOT_FOUND, why: 'deeper' },
    { url: `/webhooks/w/${UID}/tok/more`, signature: NOT_FOUND, urlToken: NOT_FOUND, why: 'deeper' },
    { url: `/webhooks/w/${UID}/../x`, signature: NOT_FOUND, urlToken: NOT_FOUND, why: 'dot segments are literal' },
    {
      url: `/webhooks/w/${UID}/undecodable`,
      signature: NOT_FOUND,
      urlToken: 'undecodable',
      why: 'a token may be any word',
    },
    {
      url: `http://ingress.example/webhooks/w/${UID}/tok`,
      signature: NOT_FOUND,
      urlToken: 'tok',
      why: 'absolute form',
    },
    { url: `HTTPS://[::1]:8443/webhooks/w/${UID}`, signature: undefined, urlToken: '', why: 'absolute form' },
  ])('$url: $why', ({ url, signature, urlToken }) => {
    const path = splitIngressPath(url);
    if (path.kind !== 'webhook') throw new Error('expected a webhook');
    expect(path.uid).toBe(UID);
    for (const mode of ['token', 'signature'] as const) {
      expect(routeFor(mode, path)).toEqual(signature === NOT_FOUND ? { ok: false, reason: NOT_FOUND } : { ok: true });
    }
    const expected = urlToken === '' ? { ok: true } : { ok: true, token: urlToken };
    const route = routeFor('url_token', path);
    expect(route.ok && route.token === '' ? { ok: true } : route).toEqual(
      urlToken === NOT_FOUND ? { ok: false, reason: NOT_FOUND } : expected,
    );
  });

  it.each([
    ['/webhooks/w/', 'no UID'],
    ['/webhooks/w', 'no UID'],
    ['/webhooks/w//', 'an empty UID'],
    [`/webhooks/w//${UID}`, 'an empty UID'],
    ['/webhooks/w/%', 'an undecodable UID'],
    ['/webhooks/w/%c3%28/tok', 'an undecodable UID'],
    [`/webhooks/W/${UID}`, 'paths have case'],
    [`//webhooks/w/${UID}`, 'a doubled slash is literal'],
    [`/webhooks/./w/${UID}`, 'dot segments are literal'],
    [`/x/../webhooks/w/${UID}`, 'dot segments are literal'],
    [`/webhooks/%77/${UID}`, 'the fixed part is matched as it stands'],
    [`/webhooks/w/wh%5F${UID.slice(3)}`, 'a UID that is encoded without need'],
    [`/webhooks/w/${UID}/tok%2Den`, 'a token that is encoded without need'],
    [`/webhooks/w/${UID}/%2e%2E`, 'dots that are encoded'],
    ['*', 'the asterisk form'],
    ['', 'nothing'],
    [`?/webhooks/w/${UID}`, 'a query only'],
    [`http:/webhooks/w/${UID}`, 'no absolute form'],
    [`http://host?/webhooks/w/${UID}`, 'a query only'],
  ])('%j is not found: %s', (url) => {
    expect(splitIngressPath(url)).toEqual({ kind: NOT_FOUND });
  });

  it('knows every character that needs no encoding, in either case, and no other', () => {
    const found = Array.from({ length: 256 }, (_, code) => code)
      .filter((code) => hasEncodedUnreserved(`/a%${code.toString(16).padStart(2, '0')}b`))
      .map((code) => String.fromCharCode(code));
    expect(found.join('')).toBe('-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~');
    expect(['%4A', '%4a', '%7E', '%7e'].every(hasEncodedUnreserved)).toBe(true);
    expect(['/a?x=%41', '/a#%41', '/a%', '/a%4', '/a%25', '/%2F'].some(hasEncodedUnreserved)).toBe(false);
  });

  it('never throws and reads back what was encoded', () => {
    fc.assert(
      fc.property(fc.string(), (text) =>
        expect(['webhook', NOT_FOUND]).toContain(splitIngressPath(`/webhooks/w/${text}`).kind),
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        (uid, token) => {
          const path = splitIngressPath(`/webhooks/w/${encodeURIComponent(uid)}/${encodeURIComponent(token)}`);
          expect(path).toEqual({ kind: 'webhook', uid, token: { decoded: token }, deeper: false });
        },
      ),
    );
  });
});
