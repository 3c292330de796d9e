/** Which request targets the ingress takes for its own, and which refusals end their connection. contract §5.1. */
import { Log } from '../process/log.ts';
import { IngressAnswers } from './ingress-answers.ts';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ClientAddresses } from '../http/requests.ts';
import { UnfinishedBodies } from '../http/unfinished-bodies.ts';
import { Metrics } from '../process/metrics.ts';
import { IngressListener, isIngressTarget } from './ingress-listener.ts';
import { refuse, type DeliveryReceiver, type IngressRequest } from './delivery-receiver.ts';

describe('the ingress answers for', () => {
  it.each([
    { target: '/webhooks/', its: true, why: 'the prefix' },
    { target: '/webhooks/w/wh_1', its: true, why: 'a webhook' },
    { target: '/webhooks/anything/else?x', its: true, why: 'all below it' },
    { target: 'http://host/webhooks/w/x', its: true, why: 'absolute form' },
    { target: 'HTTPS://host:1/webhooks/w/x', its: true, why: 'absolute form, any case and port' },
    { target: '/webhooks', its: false, why: 'not below it' },
    { target: '/webhooksy/w/x', its: false, why: 'another name' },
    { target: '/Webhooks/w/x', its: false, why: 'paths are exact' },
    { target: '//webhooks/w/x', its: false, why: 'not resolved' },
    { target: '/api/v1/webhooks/', its: false, why: 'not at the root' },
    { target: 'http://host/api?/webhooks/', its: false, why: 'in the query' },
    { target: 'http://host#/webhooks/', its: false, why: 'in a fragment' },
    { target: '', its: false, why: 'empty' },
    { target: '*', its: false, why: 'the server itself' },
  ])('$target: $its, $why', ({ target, its }) => {
    expect(isIngressTarget(target)).toBe(its);
  });
});

const request = (declared: number, body: string, headers = ''): string =>
  `POST /webhooks/w/x HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${declared}\r\n\r\n${body}`;
const CHUNKED = 'POST /webhooks/w/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n';

describe('a refusal that read nothing', () => {
  let server: Server | undefined;
  afterEach(() => new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve))));

  /**
   * What comes back on one connection until it is closed, or until it holds `answers` answers; `later` is sent behind
   * them and answered once more.
   */
  async function exchange(sent: string, answers: number, later = ''): Promise<string> {
    const refusing = {
      receive: (request: IngressRequest) => request.answer(refuse('not-found')),
    } as unknown as DeliveryReceiver;
    const listener = new IngressListener(
      refusing,
      new ClientAddresses([]),
      new UnfinishedBodies(new Metrics()),
      new IngressAnswers(new Log(() => undefined, Date.now), new Metrics()),
    );
    const listening = createServer((request, response) => listener.answer(request, response));
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const socket = connect((listening.address() as AddressInfo).port, '127.0.0.1');
    let came = '';
    let wanted = answers;
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        came += chunk.toString();
        if (came.split('{"error"').length <= wanted) return;
        if (later === '' || wanted > answers) return resolve();
        wanted += 1;
        socket.write(later);
      });
      socket.once('close', () => resolve());
      socket.write(sent);
    });
    socket.destroy();
    return came;
  }

  it('leaves the connection to the next request when the whole body has come with its head', async () => {
    const came = await exchange(request(2, '{}') + request(2, '{}'), 2);
    expect(came.match(/HTTP\/1\.1 404 /g)).toHaveLength(2);
    expect(came).not.toMatch(/^connection: close/im);
  });

  it('leaves it to the next request as well when some of a short body has not: it is skipped', async () => {
    const came = await exchange(request(65_536, '{}'), 1, 'x'.repeat(65_534) + request(2, '{}'));
    expect(came.match(/HTTP\/1\.1 404 /g)).toHaveLength(2);
    expect(came).not.toMatch(/^connection: close/im);
  });

  it('takes nothing that is skipped for a request', async () => {
    const inner = request(2, '{}');
    const came = await exchange(request(inner.length + 2, '{}'), 1, inner + request(2, '{}'));
    expect(came.match(/HTTP\/1\.1 404 /g)).toHaveLength(2);
  });

  it.each([
    { why: 'more may come than is skipped', sent: request(65_537, '{}') },
    { why: 'nothing says how much will come', sent: CHUNKED },
    { why: 'the sender waits to be asked for it', sent: request(2, '', 'Expect: 100-continue\r\n') },
  ])('ends the connection when $why', async ({ sent }) => {
    expect(await exchange(sent, 1)).toMatch(/^connection: close/im);
  });
});
