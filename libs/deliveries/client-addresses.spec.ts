/** Addresses, proxies and the keys that budgets are counted by. */
import { isIP, isIPv4 } from 'node:net';
import * as fc from 'fast-check';
import { formatAddress, parseAddress } from './addresses.ts';
import { addressKeyOf, clientAddress, parseCidrs, type Cidr } from './index.ts';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

function networks(text: string): Cidr[] {
  const read = parseCidrs(text);
  if (!read.ok) throw new Error(`bad items ${read.badPositions.join()}`);
  return read.cidrs;
}

describe('clientAddress', () => {
  it.each([
    { peer: '203.0.113.9', forwarded: undefined, trusted: '', address: '203.0.113.9', why: "the socket's peer" },
    {
      peer: '203.0.113.9',
      forwarded: '198.51.100.1',
      trusted: '',
      address: '203.0.113.9',
      why: 'anybody can send the header',
    },
    {
      peer: '10.0.0.1',
      forwarded: '198.51.100.1',
      trusted: '10.0.0.0/8',
      address: '198.51.100.1',
      why: 'a trusted proxy speaks',
    },
    {
      peer: '10.0.0.1',
      forwarded: '1.1.1.1, 198.51.100.1',
      trusted: '10.0.0.0/8',
      address: '198.51.100.1',
      why: "right-most: what is left of it is the client's claim",
    },
    {
      peer: '10.0.0.1',
      forwarded: '198.51.100.1, 10.0.0.2',
      trusted: '10.0.0.0/8',
      address: '198.51.100.1',
      why: 'two proxies',
    },
    {
      peer: '10.0.0.1',
      forwarded: '10.0.0.3,10.0.0.2',
      trusted: '10.0.0.0/8',
      address: '10.0.0.3',
      why: 'all trusted: the farthest',
    },
    {
      peer: '10.0.0.1',
      forwarded: '198.51.100.1, garbage',
      trusted: '10.0.0.0/8',
      address: '10.0.0.1',
      why: 'what is no address ends the walk',
    },
    {
      peer: '10.0.0.1',
      forwarded: 'unknown',
      trusted: '10.0.0.0/8',
      address: '10.0.0.1',
      why: 'a proxy that hides its client',
    },
    { peer: '10.0.0.1', forwarded: '', trusted: '10.0.0.0/8', address: '10.0.0.1', why: 'an empty header' },
    { peer: '10.0.0.1', forwarded: '198.51.100.1,', trusted: '10.0.0.0/8', address: '10.0.0.1', why: 'an empty hop' },
    {
      peer: '10.0.0.1',
      forwarded: '198.51.100.1:4711',
      trusted: '10.0.0.0/8',
      address: '198.51.100.1',
      why: 'with a port',
    },
    {
      peer: '10.0.0.1',
      forwarded: '"[2001:DB8::1]:443"',
      trusted: '10.0.0.0/8',
      address: '2001:db8::1',
      why: 'quoted, bracketed, with a port',
    },
    { peer: '10.0.0.1', forwarded: '2001:db8::1', trusted: '10.0.0.0/8', address: '2001:db8::1', why: 'bare IPv6' },
    {
      peer: '::ffff:10.0.0.1',
      forwarded: '::ffff:198.51.100.1',
      trusted: '10.0.0.0/8',
      address: '198.51.100.1',
      why: 'IPv4 on a dual-stack socket',
    },
    {
      peer: '10.0.0.1',
      forwarded: '198.51.100.1',
      trusted: '::ffff:10.0.0.0/104',
      address: '198.51.100.1',
      why: 'a network written as mapped IPv6',
    },
    {
      peer: '10.0.0.1',
      forwarded: '198.51.100.1',
      trusted: '::/0',
      address: '10.0.0.1',
      why: 'all of IPv6 is not IPv4',
    },
    {
      peer: '::1',
      forwarded: '198.51.100.1',
      trusted: '127.0.0.1, ::1',
      address: '198.51.100.1',
      why: 'single addresses',
    },
    { peer: 'fe80::1%eth0', forwarded: undefined, trusted: '', address: 'fe80::1', why: 'a zone' },
    {
      peer: undefined,
      forwarded: '198.51.100.1',
      trusted: '0.0.0.0/0 ::/0',
      address: 'unknown',
      why: 'a socket that is gone',
    },
    {
      peer: '10.0.0.1',
      forwarded: `${'x'.repeat(9000)},${'10.0.0.2,'.repeat(500)}10.0.0.3`,
      trusted: '10.0.0.0/8',
      address: '10.0.0.2',
      why: 'a long header',
    },
    {
      peer: '10.0.0.1',
      forwarded: '010.0.0.2',
      trusted: '10.0.0.0/8',
      address: '10.0.0.1',
      why: 'octal or decimal? neither',
    },
  ])('$why', ({ peer, forwarded, trusted, address }) => {
    expect(clientAddress(peer, forwarded, networks(trusted))).toBe(address);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.,[]%" ') }),
        (peer, forwarded) => {
          expect(typeof clientAddress(peer, forwarded, networks('0.0.0.0/0, ::/0'))).toBe('string');
        },
      ),
    );
  });
});

describe('addressKeyOf', () => {
  it.each([
    { address: '192.0.2.1', key: '192.0.2.1', why: 'IPv4 by address' },
    { address: '::ffff:192.0.2.1', key: '192.0.2.1', why: 'mapped is IPv4' },
    { address: '2001:db8:1:2:3:4:5:6', key: '2001:db8:1:2::/64', why: 'IPv6 by /64' },
    { address: '2001:db8:1:2:ffff::', key: '2001:db8:1:2::/64', why: 'the same site' },
    { address: '2001:db8:1:3::1', key: '2001:db8:1:3::/64', why: 'another site' },
    { address: '::1', key: '::/64', why: 'loopback' },
    { address: 'unknown', key: 'unknown', why: 'one budget for all that are unknown' },
  ])('$address → $key: $why', ({ address, key }) => {
    expect(addressKeyOf(address)).toBe(key);
  });
});

describe('parseCidrs', () => {
  it.each([
    { text: '', expected: { ok: true, cidrs: [] }, why: 'nobody is trusted' },
    { text: '10.0.0.0/8,  192.168.0.1 ::1/128', expected: { ok: true }, why: 'commas and spaces' },
    { text: '10.0.0.0/33', expected: { ok: false, badPositions: [1] }, why: 'too many bits' },
    {
      text: '::/129, 10.0.0.0/8, x',
      expected: { ok: false, badPositions: [1, 3] },
      why: 'every bad item is named by its place',
    },
    { text: '10.0.0.0/08', expected: { ok: false, badPositions: [1] }, why: 'a leading zero' },
    { text: '10.0.0.0/', expected: { ok: false, badPositions: [1] }, why: 'no bits' },
    { text: '10.0.0.0/8/8', expected: { ok: false, badPositions: [1] }, why: 'twice' },
    {
      text: '::ffff:10.0.0.0/8',
      expected: { ok: false, badPositions: [1] },
      why: 'a mapped network shorter than its prefix',
    },
    { text: '10.0.0', expected: { ok: false, badPositions: [1] }, why: 'three octets' },
    { text: 'fe80::1%eth0', expected: { ok: false, badPositions: [1] }, why: 'a zone is no network' },
  ])('$text: $why', ({ text, expected }) => {
    expect(parseCidrs(text)).toMatchObject(expected);
  });

  it.each([
    { network: '192.0.2.128/25', inside: '192.0.2.129', outside: '192.0.2.127' },
    { network: '192.0.2.1/31', inside: '192.0.2.0', outside: '192.0.2.2' },
    { network: '2001:db8::/33', inside: '2001:db8:7fff::1', outside: '2001:db8:8000::1' },
    { network: '0.0.0.0/0', inside: '255.255.255.255', outside: '::1' },
  ])('$network holds $inside and not $outside', ({ network, inside, outside }) => {
    expect(clientAddress(inside, '203.0.113.1', networks(network))).toBe('203.0.113.1');
    expect(clientAddress(outside, '203.0.113.1', networks(network))).toBe(outside);
  });
});

describe('parseAddress and formatAddress', () => {
  it('read exactly what node reads', () => {
    const near = fc.string({
      unit: fc.constantFrom('0', '1', '9', 'f', 'F', ':', ':', '.', '255', '::', 'ffff'),
      maxLength: 24,
    });
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), near), (text) => {
        expect(parseAddress(text) !== undefined).toBe(isIP(text) !== 0);
      }),
      { numRuns: examples(2_000) },
    );
  });

  it('print one canonical text for one address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = parseAddress(text);
        if (address === undefined) throw new Error(text);
        const printed = formatAddress(address);
        expect(parseAddress(printed)).toEqual(address);
        expect(printed).toBe(isIPv4(printed) ? printed : new URL(`http://[${text}]`).hostname.slice(1, -1));
      }),
    );
  });
});
