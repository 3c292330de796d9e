/** Nothing that must not leave the machine passes the scan of a support bundle. */
import { BUNDLE_FINDINGS_MAX, chosen, logLines, scanBundle } from './index.ts';

const SECRET = { name: 'MILLWRIGHT_ADMIN_KEY', value: 'a-value-that-has-no-shape' };

function scan(text: string): string[] {
  return scanBundle([{ name: 'log.jsonl', text }], [SECRET]).map(({ line, what }) => `${line}: ${what}`);
}

describe('the scan of a support bundle', () => {
  it.each([
    ['as it is', SECRET.value],
    ['in base64', Buffer.from(SECRET.value).toString('base64')],
    ['in hex', Buffer.from(SECRET.value).toString('hex')],
  ])('finds a known value %s', (_how, text) => {
    expect(scan(`one\n{"x": "${text}"}`)).toEqual(['2: the value of MILLWRIGHT_ADMIN_KEY']);
  });

  it('finds a known value that goes over several lines', () => {
    const value = 'first line of it\nsecond line of it';
    expect(scanBundle([{ name: 'a', text: `x\n${value}\n` }], [{ name: 'master-key', value }])).toEqual([
      { file: 'a', line: 1, what: 'the value of master-key' },
    ]);
  });

  it.each([
    ['-----BEGIN OPENSSH PRIVATE KEY-----', /private key/],
    [`mw_${'a'.repeat(43)}`, /API key/],
    [`ghp_${'A1'.repeat(18)}`, /GitHub/],
    [`AKIA${'A'.repeat(16)}`, /AWS/],
    [`whsec_${'A'.repeat(32)}`, /signature scheme/],
    [`sk-ant-${'a'.repeat(30)}`, /provider/],
    [`eyJhbGciOiJI.eyJzdWIiOiIx.${'a'.repeat(20)}`, /JWT/],
    ['authorization: Bearer abcdefghijklmnop', /header/],
    ['postgres://millwright:hunter2@db/millwright', /password/],
    ['{"payload": {"status": "failed"}}', /senders/],
    ['{"prompt": "say hello"}', /senders/],
  ])('finds %s', (text, words) => {
    const found = scan(text);
    expect(found).not.toEqual([]);
    expect(found.join('\n')).toMatch(words);
    expect(found.join('\n')).not.toContain(text.slice(-12));
  });

  it('lets pass what a service says of itself', () => {
    const lines = [
      '{"at":"2030-01-31T00:00:00.000Z","level":"info","message":"request","route":"/api/v1/factory","status":200}',
      '{"at":"2030-01-31T00:00:00.000Z","level":"info","message":"sync pass ended","factory_uid":"fac_qr9a00wkb19nvx"}',
      'revision sha256:d2ec7932c11e71168c77372121f4062899b49edefdd41b7652adee426260ec99',
      'millwright_ingress_requests_total{status="202"} 17',
      '{"check":"model","message":"the endpoint https://models.example.com answers"}',
    ];
    expect(scan(lines.join('\n'))).toEqual([]);
  });

  it('tells no more than a few findings', () => {
    expect(scan('{"payload": 1}\n'.repeat(1_000))).toHaveLength(BUNDLE_FINDINGS_MAX);
  });
});

describe('lines of a log', () => {
  it('are those of the service; what else is there is counted', () => {
    const own = '{"at":"2030-01-31T00:00:00.000Z","level":"warn","message":"heartbeat write failed","attempts":2}';
    const others = [
      'Millwright is running at http://127.0.0.1:8080/',
      '{"at":"x","level":"info","message":"m","a":{}}',
      '[1]',
    ];
    expect(logLines(`${own}\n\n${others.join('\n')}\n`)).toEqual({ lines: [own], leftOut: 3 });
  });
});

it('members are chosen by name', () => {
  expect(chosen({ slug: 'main', source: { url: 'x' } }, ['slug', 'uid'])).toEqual({ slug: 'main' });
});
