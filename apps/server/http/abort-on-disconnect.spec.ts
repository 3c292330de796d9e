/**
 * That long work learns when nobody waits for it: of a real connection that is closed, and of one that was before it
 * began.
 */
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { FastifyReply } from 'fastify';
import { ClientGoneError, abortOnDisconnect } from './connections.ts';

const signalOf = (raw: ServerResponse): AbortSignal => abortOnDisconnect({ raw } as FastifyReply);

it('is aborted when the client leaves, also when it left before, with a reason that is no fault', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const came = new Promise<ServerResponse>((resolve) =>
    server.once('request', (_request, response) => resolve(response)),
  );
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1', () =>
    client.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n'),
  );
  const response = await came;
  const signal = signalOf(response);
  expect(signal.aborted).toBe(false);
  const left = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  client.destroy();
  await left;
  expect(signal.reason).toBeInstanceOf(ClientGoneError);
  expect(signalOf(response).aborted).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});
