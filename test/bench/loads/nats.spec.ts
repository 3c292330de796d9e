/** What the benchmark says to a NATS server, and what it makes of the answers. */
import { describe, expect, it } from '@jest/globals';
import { natsProtocol, natsPublication } from './nats.ts';

const protocol = natsProtocol('secret');

describe('a publication', () => {
  it('is named, and answered into the inbox of its connection', () => {
    const bytes = protocol.request(natsPublication('d-1', '{"a":1}'), 7).toString();
    const headers = 'NATS/1.0\r\nNats-Msg-Id: d-1\r\n\r\n';
    expect(bytes).toBe(
      `HPUB bench.deliveries _INBOX.7 ${headers.length} ${headers.length + 7}\r\n${headers}{"a":1}\r\n`,
    );
  });

  it('comes behind a greeting that proves the connection and opens the inbox', () => {
    const [first = '', second] = protocol.greeting(7).toString().split('\r\n');
    expect(JSON.parse(first.replace(/^CONNECT /, ''))).toMatchObject({ auth_token: 'secret', headers: true });
    expect(second).toBe('SUB _INBOX.7 1');
  });
});

describe('an answer', () => {
  const stored = '{"stream":"bench","seq":3}';
  const refused = '{"error":{"code":503}}';
  it.each([
    { said: 'INFO {}\r\n', status: undefined, why: 'nothing yet' },
    { said: `INFO {}\r\nPING\r\nMSG _INBOX.7 1 ${stored.length}\r\n${stored}\r\n`, status: 'stored', why: 'stored' },
    { said: `MSG _INBOX.7 1 ${stored.length}\r\n${stored.slice(0, 9)}`, status: undefined, why: 'not yet whole' },
    { said: `MSG _INBOX.7 1 ${refused.length}\r\n${refused}\r\n`, status: 'refused', why: 'not stored' },
    { said: "-ERR 'Authorization Violation'\r\n", status: 'refused', why: 'not let in' },
  ])('$why', ({ said, status }) => {
    expect(protocol.answerIn(Buffer.from(said))?.status).toBe(status);
  });
});
