/**
 * Egress as tables: spellings of hosts, patterns, kinds of addresses, policies of tiers, and decisions before and after
 * resolving.
 */
import { addressKind } from './egress-addresses.ts';
import {
  formatTarget,
  hostPatternOfUrl,
  intersection,
  matches,
  readHost,
  readHostPattern,
  readTarget,
  type HostPattern,
} from './egress-hosts.ts';
import {
  decideAddresses,
  decideTarget,
  hostsAllowedBy,
  isListed,
  networkOf,
  type EgressPolicy,
  type EgressRules,
  type NetworkRequest,
  type OperatorNetwork,
} from './egress.ts';
import { describeBytes, describeReach } from './egress-reach.ts';

const pattern = (text: string): HostPattern => {
  const read = readHostPattern(text);
  if (read === undefined) throw new Error(`no host: ${text}`);
  return read;
};
const patterns = (list: string): HostPattern[] =>
  list
    .split(' ')
    .filter((text) => text !== '')
    .map(pattern);
const target = (text: string) => {
  const read = readTarget(text);
  if (read === undefined) throw new Error(`no target: ${text}`);
  return read;
};
const text = ({ host, subdomains, ports }: HostPattern) =>
  ports.map((port) => (subdomains ? '*.' : '') + formatTarget(host, port)).join(' ');

describe('a host', () => {
  it.each([
    { spelt: 'example.com', read: 'example.com', why: 'as it is' },
    { spelt: 'EXAMPLE.Com', read: 'example.com', why: 'case means nothing' },
    { spelt: 'example.com.', read: 'example.com', why: 'the last dot is the root' },
    { spelt: 'bücher.example', read: 'xn--bcher-kva.example', why: 'resolved in its ASCII form' },
    { spelt: 'exa\u00admple.com', read: 'example.com', why: 'soft hyphens are not part of a name' },
    { spelt: 'my_host.example', read: 'my_host.example', why: 'underscores exist' },
    { spelt: 'db', read: 'db', why: 'names without a dot exist in networks of their own' },
    { spelt: '127.0.0.1', read: '127.0.0.1', why: 'an address' },
    { spelt: '127.0.0.1.', read: '127.0.0.1', why: 'the same with a last dot' },
    { spelt: '127.1', read: '127.0.0.1', why: 'short' },
    { spelt: '2130706433', read: '127.0.0.1', why: 'decimal' },
    { spelt: '0x7f000001', read: '127.0.0.1', why: 'hexadecimal' },
    { spelt: '0X7F.1', read: '127.0.0.1', why: 'mixed' },
    { spelt: '0177.0.0.01', read: '127.0.0.1', why: 'octal' },
    { spelt: '１２７.０.０.１', read: '127.0.0.1', why: 'full-width digits' },
    { spelt: '127。0。0。1', read: '127.0.0.1', why: 'other dots' },
    { spelt: '::1', read: '[::1]', why: 'IPv6' },
    { spelt: '[::1]', read: '[::1]', why: 'in brackets' },
    { spelt: '0:0:0:0:0:0:0:1', read: '[::1]', why: 'in full' },
    { spelt: '::ffff:169.254.169.254', read: '169.254.169.254', why: 'IPv4 in IPv6' },
    { spelt: '::FFFF:a9fe:a9fe', read: '169.254.169.254', why: 'the same in hexadecimal' },
  ])('$spelt is $read, because $why', ({ spelt, read }) => {
    const host = readHost(spelt);
    expect(host && formatTarget(host, 1)).toBe(`${read}:1`);
  });

  it.each([
    '',
    '.',
    'a..b',
    'example.com..',
    'a b',
    'a/b',
    'a@b',
    'a%2eb',
    'a#b',
    'a?b',
    'a\\b',
    'a\0b',
    'a\nb',
    '-a.example',
    '256.1.1.1',
    '1.2.3.4.5',
    '0x1.example.0x',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    '[::1',
    '::1]',
    '[example.com]',
    '1::2::3',
    'a,b',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(130)}b`,
  ])('%j is none', (spelt) => {
    expect(readHost(spelt)).toBeUndefined();
  });
});

describe('a pattern', () => {
  it.each([
    { list: 'example.com', read: 'example.com:80 example.com:443', why: 'the web without a port' },
    { list: '*.Example.com', read: '*.example.com:80 *.example.com:443', why: 'sub-domains' },
    { list: 'example.com:8443', read: 'example.com:8443', why: 'only that port' },
    { list: '10.0.0.5:8000', read: '10.0.0.5:8000', why: 'an address' },
    { list: '[::1]:8080', read: '[::1]:8080', why: 'IPv6 with a port' },
    { list: '::1', read: '[::1]:80 [::1]:443', why: 'IPv6 without one' },
  ])('$list stands for $read: $why', ({ list, read }) => {
    expect(text(pattern(list))).toBe(read);
  });

  it.each([
    '*',
    '*.',
    '*.10.0.0.1',
    'a*.example',
    '*.*.example',
    'example.com:',
    'example.com:0',
    'example.com:65536',
    'example.com:x',
    'https://example.com',
    'example.com/x',
    '10.0.0.0/8',
    '',
  ])('%j is none', (spelt) => {
    expect(readHostPattern(spelt)).toBeUndefined();
  });

  it.each([
    { list: 'example.com', wanted: 'example.com:443', is: true, why: 'itself' },
    { list: 'example.com', wanted: 'EXAMPLE.com.:80', is: true, why: 'in any spelling' },
    { list: 'example.com', wanted: 'example.com:22', is: false, why: 'another port' },
    { list: 'example.com', wanted: 'a.example.com:443', is: false, why: 'below is not itself' },
    { list: '*.example.com', wanted: 'a.b.example.com:443', is: true, why: 'any depth' },
    { list: '*.example.com', wanted: 'example.com:443', is: false, why: 'itself is not below' },
    { list: '*.example.com', wanted: 'notexample.com:443', is: false, why: 'labels, not letters' },
    { list: 'example.com', wanted: 'example.com.evil.test:443', is: false, why: 'the end counts' },
    { list: '127.0.0.1:8080', wanted: '0x7f.1:8080', is: true, why: 'the same address' },
    { list: 'bücher.example', wanted: 'xn--bcher-kva.example:443', is: true, why: 'the same name' },
  ])('$list and $wanted: $is, because $why', ({ list, wanted, is }) => {
    const { host, port } = target(wanted);
    expect(matches(pattern(list), host, port)).toBe(is);
  });

  it.each([
    { a: 'example.com', b: 'example.com:443', both: 'example.com:443' },
    { a: '*.example.com', b: 'a.example.com', both: 'a.example.com:80 a.example.com:443' },
    { a: '*.example.com', b: '*.b.example.com:80', both: '*.b.example.com:80' },
    { a: '*.example.com', b: '*.example.com', both: '*.example.com:80 *.example.com:443' },
    { a: '*.example.com', b: 'example.com', both: undefined },
    { a: 'example.com:80', b: 'example.com:443', both: undefined },
    { a: '*.a.example', b: '*.b.example', both: undefined },
    { a: '10.0.0.1', b: '10.0.0.2', both: undefined },
  ])('$a and $b have $both in common, whichever comes first', ({ a, b, both }) => {
    const found = [intersection(pattern(a), pattern(b)), intersection(pattern(b), pattern(a))];
    expect(found.map((one) => one && text(one))).toEqual([both, both]);
  });

  it.each([
    { url: 'https://api.example.com/v1', read: 'api.example.com:443' },
    { url: 'http://127.0.0.1:11434/v1', read: '127.0.0.1:11434' },
    { url: 'http://[::1]:9/', read: '[::1]:9' },
    { url: 'https://user:pw@git.example/o/r.git', read: 'git.example:443' },
    { url: 'ssh://git@git.example/o/r.git', read: 'git.example:22' },
    { url: 'git@git.example:o/r.git', read: 'git.example:22' },
    { url: 'file:///etc/passwd', read: undefined },
    { url: 'owner/name', read: undefined },
    { url: '', read: undefined },
  ])('$url leads to $read', ({ url, read }) => {
    const found = hostPatternOfUrl(url);
    expect(found && text(found)).toBe(read);
  });
});

describe('a target of a proxy', () => {
  it.each([
    'example.com',
    'example.com:',
    ':443',
    'example.com:99999',
    '::1',
    'user@example.com:443',
    'http://example.com:443',
  ])('%j is none', (spelt) => {
    expect(readTarget(spelt)).toBeUndefined();
  });
});

describe('the kind of an address', () => {
  it.each([
    {
      kind: 'public',
      addresses:
        '1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.167.1.1 169.253.1.1 ' +
        '223.255.255.255 2606:4700::1111 2a00::1 64:ff9b::8.8.8.8',
    },
    {
      kind: 'private',
      addresses:
        '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 fc00::1 ' +
        'fd12:3456::1 ::ffff:10.0.0.1 64:ff9b::10.0.0.1',
    },
    {
      kind: 'internal',
      addresses:
        '127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 ' +
        '192.0.0.192 224.0.0.1 239.255.255.255 255.255.255.255 240.0.0.1 198.18.0.1 192.0.2.1 198.51.100.1 ' +
        '203.0.113.1 192.88.99.1',
    },
    {
      kind: 'internal',
      addresses:
        ':: ::1 ::ffff:127.0.0.1 ::7f00:1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 fd00:ec2::254 2001::1 ' +
        '2001:db8::1 2002:7f00:1::1 3fff::1 64:ff9b::169.254.169.254 64:ff9b:1::1 100::1 4000::1',
    },
    { kind: 'internal', addresses: 'example.com 0177.0.0.1 1.2.3 1.2.3.4/8 x' },
  ])('is $kind: $addresses', ({ kind, addresses }) => {
    expect(addresses.split(' ').filter((address) => addressKind(address) !== kind)).toEqual([]);
  });
});

describe('the network of a run', () => {
  const operator = (kind: OperatorNetwork['kind'], list = ''): OperatorNetwork => ({ kind, hosts: patterns(list) });
  const wish = (more: Partial<NetworkRequest>): NetworkRequest => ({
    operator: operator('open'),
    tier: 'standard',
    models: patterns('model.test:443'),
    repositories: patterns('git.test:443'),
    secretHosts: [],
    ...more,
  });
  const shown = (policy: EgressPolicy) => (policy.kind === 'allow' ? policy.hosts.map(text).join(' ') : policy.kind);
  const base = 'model.test:443 git.test:443';
  it.each([
    { given: wish({}), gets: 'open', why: 'the operator opened it' },
    { given: wish({ tier: 'strict' }), gets: base, why: 'deliveries get the model and the repositories' },
    {
      given: wish({ tier: 'strict', automation: patterns('api.test:443') }),
      gets: `api.test:443 ${base}`,
      why: 'and what their automation names, as far as the operator allows',
    },
    {
      given: wish({ automation: patterns('api.test:443') }),
      gets: `api.test:443 ${base}`,
      why: 'an automation narrows',
    },
    { given: wish({ automation: [] }), gets: base, why: 'also to nothing' },
    {
      given: wish({ operator: operator('allow-list', 'a.test:443 *.b.test:443') }),
      gets: 'a.test:443 *.b.test:443 model.test:443',
      why: 'the operator’s list, which has no repository',
    },
    {
      given: wish({
        operator: operator('allow-list', '*.b.test:443'),
        automation: patterns('c.test:443 x.b.test:443'),
      }),
      gets: 'x.b.test:443 model.test:443',
      why: 'never wider than the operator’s list',
    },
    {
      given: wish({ operator: operator('allow-list', 'a.test:443'), tier: 'strict' }),
      gets: 'model.test:443',
      why: 'the list is for the standard tier, and a committed environment does not widen it',
    },
    {
      given: wish({ operator: operator('allow-list', 'a.test:443 *.test:443'), tier: 'strict' }),
      gets: base,
      why: 'repositories that the list has are reached by every run of their environment',
    },
    {
      given: wish({ operator: operator('allow-list', 'git.test:22'), tier: 'strict' }),
      gets: 'model.test:443',
      why: 'another port is another server',
    },
    {
      given: wish({ operator: operator('none'), automation: patterns('api.test') }),
      gets: 'none',
      why: 'nothing means nothing',
    },
    {
      given: wish({ operator: operator('host'), tier: 'strict' }),
      gets: base,
      why: 'the machine’s network is not for deliveries',
    },
    {
      given: wish({ operator: operator('host'), automation: patterns('a.test:443') }),
      gets: `a.test:443 ${base}`,
      why: 'an automation narrows this too',
    },
    {
      given: wish({ operator: operator('allow-list'), models: [], repositories: [] }),
      gets: 'none',
      why: 'an empty list needs no way out',
    },
  ])('is $gets, because $why', ({ given, gets }) => {
    const network = networkOf(given);
    expect(network === 'host' ? network : shown(network.policy)).toBe(gets);
  });

  it.each([
    { given: wish({}), says: ['model.test:443 (model of its harness); git.test:443 (repository', 'every public host'] },
    { given: wish({ operator: operator('host') }), says: ['network of the machine (operator: host)'] },
    { given: wish({ operator: operator('none') }), says: ['reaches nothing (operator: none)'] },
    {
      given: wish({ operator: operator('allow-list', 'a.test *.b.test:443') }),
      says: ['a.test, *.b.test:443 (operator list)', 'cut, for the operator', 'git.test:443 (repository'],
    },
    {
      given: wish({
        tier: 'strict',
        automation: patterns('api.test:443 c.test:1'),
        operator: operator('allow-list', 'api.test'),
      }),
      says: ['model.test:443 (model of its harness); api.test:443 (automation, within the operator list)', 'cut'],
    },
    {
      given: wish({ tier: 'strict', models: [], repositories: [], operator: operator('allow-list', 'a.test') }),
      says: ['this run reaches nothing'],
    },
  ])('is told at the beginning of a log: $says', ({ given, says }) => {
    const text = describeReach(given).join('\n');
    for (const part of says) expect(text).toContain(part);
    expect(text.includes('cut')).toBe(says.some((part) => part.includes('cut')));
  });

  it('is told at its end, by host, most first', () => {
    expect(describeBytes([])).toBe('network: nothing was sent to any host');
    expect(
      describeBytes([
        { host: 'a.test:443', sentBytes: 1, receivedBytes: 2, connections: 1 },
        { host: 'b.test:443', sentBytes: 9, receivedBytes: 0, connections: 3 },
      ]),
    ).toBe(
      'network: b.test:443 sent 9 bytes, received 0 (3 connections); ' +
        'a.test:443 sent 1 bytes, received 2 (1 connection)',
    );
  });

  it('is the machine’s own only for the standard tier, and only where the operator said so', () => {
    expect(networkOf(wish({ operator: operator('host') }))).toBe('host');
  });

  it.each([
    { network: undefined, hosts: undefined, why: 'it says nothing' },
    { network: {}, hosts: [], why: 'nothing beside model and repositories' },
    {
      network: { allow: ['a.test:443', '*', '*.b.test:80'] },
      hosts: ['a.test:443', '*.b.test:80'],
      why: 'what cannot be read allows nothing',
    },
  ])('narrowed by $network is $hosts: $why', ({ network, hosts }) => {
    expect(hostsAllowedBy(network)?.map(text)).toEqual(hosts);
  });

  it('lifts nothing that only a repository names', () => {
    const network = networkOf(
      wish({ tier: 'strict', automation: patterns('10.0.0.1:80'), repositories: patterns('10.0.0.2:80') }),
    );
    if (network === 'host') throw new Error('unexpected');
    for (const wanted of ['10.0.0.1:80', '10.0.0.2:80']) {
      const { host, port } = target(wanted);
      expect(decideTarget(network, host, port)).toEqual({ ok: true });
      expect(decideAddresses(network, host, port, [wanted.split(':')[0] ?? ''], [])).toEqual({
        ok: false,
        reason: 'private-address',
      });
    }
  });
});

describe('a decision', () => {
  const rules = (policy: string, named = ''): EgressRules => ({
    policy: policy === 'open' || policy === 'none' ? { kind: policy } : { kind: 'allow', hosts: patterns(policy) },
    named: patterns(named),
  });
  const OWN = ['127.0.0.1', '::1', '93.184.216.34', '::ffff:5.6.7.8'];
  const decided = (given: EgressRules, wanted: string, resolved: string): string => {
    const { host, port } = target(wanted);
    const byName = decideTarget(given, host, port);
    if (!byName.ok) return byName.reason;
    const byAddress = decideAddresses(
      given,
      host,
      port,
      resolved.split(' ').filter((address) => address !== ''),
      OWN,
    );
    return byAddress.ok ? byAddress.addresses.join(' ') : byAddress.reason;
  };

  it.each([
    { given: rules('a.test'), name: 'a.test', listed: true, why: 'the list names it' },
    { given: rules('open', 'a.test:8080'), name: 'a.test', listed: true, why: 'the operator names it' },
    { given: rules('*.a.test'), name: 'x.a.test', listed: false, why: 'the run chose the first label' },
    { given: rules('open'), name: 'a.test', listed: false, why: 'the run chose all of it' },
  ])('knows whether $name is listed: $listed, because $why', ({ given, name, listed }) => {
    expect(isListed(given, { kind: 'name', name })).toBe(listed);
  });

  it.each([
    {
      given: rules('open'),
      wanted: 'example.com:443',
      resolved: '1.1.1.1 2606:4700::1',
      is: '1.1.1.1 2606:4700::1',
      why: 'all of it is public',
    },
    {
      given: rules('open'),
      wanted: 'example.com:443',
      resolved: '::ffff:1.1.1.1',
      is: '1.1.1.1',
      why: 'dialled as what was judged',
    },
    {
      given: rules('open'),
      wanted: 'rebound.test:443',
      resolved: '1.1.1.1 127.0.0.1',
      is: 'internal-address',
      why: 'one bad address spoils all',
    },
    {
      given: rules('open'),
      wanted: 'rebound.test:443',
      resolved: '10.1.2.3',
      is: 'private-address',
      why: 'a public name for a private place',
    },
    { given: rules('open'), wanted: '127.1:8080', resolved: '127.0.0.1', is: 'internal-address', why: 'this machine' },
    {
      given: rules('open'),
      wanted: '169.254.169.254:80',
      resolved: '169.254.169.254',
      is: 'internal-address',
      why: 'metadata',
    },
    {
      given: rules('open'),
      wanted: 'metadata.google.internal:80',
      resolved: '1.1.1.1',
      is: 'internal-address',
      why: 'by its name alone',
    },
    {
      given: rules('open'),
      wanted: 'METADATA.google.internal.:80',
      resolved: '1.1.1.1',
      is: 'internal-address',
      why: 'in any spelling',
    },
    { given: rules('open'), wanted: 'localhost:80', resolved: '127.0.0.1', is: 'internal-address', why: 'by its name' },
    {
      given: rules('open'),
      wanted: 'this-machine.test:443',
      resolved: '93.184.216.34',
      is: 'internal-address',
      why: 'its public address is this machine too',
    },
    {
      given: rules('open'),
      wanted: 'this-machine.test:443',
      resolved: '5.6.7.8',
      is: 'internal-address',
      why: 'however it is spelt',
    },
    { given: rules('open'), wanted: 'gone.test:443', resolved: '', is: 'unknown-host', why: 'there is no address' },
    {
      given: rules('open'),
      wanted: 'scoped.test:443',
      resolved: 'fe80::1%eth0',
      is: 'internal-address',
      why: 'an interface of this machine',
    },
    {
      given: rules('none', '10.0.0.5:80'),
      wanted: '10.0.0.5:80',
      resolved: '10.0.0.5',
      is: 'not-allowed',
      why: 'none is none',
    },
    { given: rules('a.test'), wanted: 'b.test:443', resolved: '1.1.1.1', is: 'not-allowed', why: 'not on the list' },
    { given: rules('a.test'), wanted: 'a.test:22', resolved: '1.1.1.1', is: 'not-allowed', why: 'not at this port' },
    {
      given: rules('a.test'),
      wanted: 'a.test:443',
      resolved: '192.168.0.1',
      is: 'private-address',
      why: 'a list is no lift',
    },
    {
      given: rules('open', '10.0.0.5:8000'),
      wanted: '10.0.0.5:8000',
      resolved: '10.0.0.5',
      is: '10.0.0.5',
      why: 'named exactly',
    },
    {
      given: rules('open', '10.0.0.5:8000'),
      wanted: '10.0.0.5:22',
      resolved: '10.0.0.5',
      is: 'private-address',
      why: 'named at another port',
    },
    {
      given: rules('open', '10.0.0.5:8000'),
      wanted: 'alias.test:8000',
      resolved: '10.0.0.5',
      is: '10.0.0.5',
      why: 'the address is what was named',
    },
    {
      given: rules('open', 'git.corp.test'),
      wanted: 'git.corp.test:443',
      resolved: '10.0.0.9',
      is: '10.0.0.9',
      why: 'a named host may be private',
    },
    {
      given: rules('open', 'git.corp.test'),
      wanted: 'git.corp.test:443',
      resolved: '169.254.169.254',
      is: 'internal-address',
      why: 'but not metadata',
    },
    {
      given: rules('open', 'git.corp.test'),
      wanted: 'git.corp.test:443',
      resolved: '127.0.0.1',
      is: 'internal-address',
      why: 'nor this machine',
    },
    {
      given: rules('open', '*.corp.test'),
      wanted: 'git.corp.test:443',
      resolved: '10.0.0.9',
      is: 'private-address',
      why: 'a pattern is not exact',
    },
    {
      given: rules('open', 'localhost:11434'),
      wanted: 'localhost:11434',
      resolved: '::1 127.0.0.1',
      is: '::1 127.0.0.1',
      why: 'named',
    },
    {
      given: rules('open', 'localhost:11434'),
      wanted: 'localhost:8080',
      resolved: '127.0.0.1',
      is: 'internal-address',
      why: 'another port is another server',
    },
    {
      given: rules('open', 'localhost:11434'),
      wanted: 'evil.test:11434',
      resolved: '127.0.0.1',
      is: 'internal-address',
      why: 'another name is not it',
    },
    {
      given: rules('open', '169.254.169.254:80'),
      wanted: '169.254.169.254:80',
      resolved: '169.254.169.254',
      is: '169.254.169.254',
      why: 'the operator insists',
    },
  ])('for $wanted → $resolved is $is, because $why', ({ given, wanted, resolved, is }) => {
    expect(decided(given, wanted, resolved)).toBe(is);
  });
});
