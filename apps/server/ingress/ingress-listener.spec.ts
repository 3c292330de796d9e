/** Which request targets the ingress takes for its own, and which refusals end their connection. contract §5.1. */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ClientAddresses } from '../http/requests.ts';
import { IngressListener, isIngressTarget } from './ingress-listener.ts';
import { refuse, type DeliveryReceiver } from './delivery-receiver.ts';

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

describe('a refusal that read nothing', () => {
  let server: Server | undefined;
  afterEach(() => new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve))));

  /** What comes back on one connection until it is closed, or until it holds `answers` answers. */
  async function exchange(sent: string, answers: number): Promise<string> {
    const refusing = { receive: async () => refuse('not-found') } as unknown as DeliveryReceiver;
    const listener = new IngressListener(refusing, new ClientAddresses([]));
    const listening = createServer((request, response) => listener.answer(request, response));
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const socket = connect((listening.address() as AddressInfo).port, '127.0.0.1');
    let came = '';
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        came += chunk.toString();
        if (came.split('{"error"').length > answers) resolve();
      });
      socket.once('close', () => resolve());
      socket.write(sent);
    });
    socket.destroy();
    return came;
  }

  const request = (declared: number, body: string) =>
    `POST /webhooks/w/x HTTP/1.1\r\nHost: x\r\nContent-Length: ${declared}\r\n\r\n${body}`;

  it('leaves the connection to the next request when the whole body has come with its head', async () => {
    const came = await exchange(request(2, '{}') + request(2, '{}'), 2);
    expect(came.match(/HTTP\/1\.1 404 /g)).toHaveLength(2);
    expect(came).not.toMatch(/^connection: close/im);
  });

  it('ends the connection when some of the body has not', async () => {
    expect(await exchange(request(3, '{}'), 1)).toMatch(/^connection: close/im);
  });
});
