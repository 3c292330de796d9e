/** How deep a body nests, and how long it may take. contract §3. */
import fastify from 'fastify';
import { connectRaw, requestHead } from '../../../test/support/network/raw-http.ts';
import { RefusalError } from './error-codes.ts';
import { depthOf, parseJsonBodies } from './body.ts';
import { beginRecord } from './requests.ts';
import { Metrics } from '../process/metrics.ts';
import { UnfinishedBodies } from './unfinished-bodies.ts';

describe('the depth of JSON', () => {
  it.each([
    { json: '1', depth: 0, why: 'a scalar' },
    { json: '{}', depth: 1, why: 'one object' },
    { json: '{"a":[{"b":1}],"c":{}}', depth: 3, why: 'the deepest place counts' },
    { json: '[[],[],[]]', depth: 2, why: 'neighbours do not add up' },
    { json: '"[[[[{{{{"', depth: 0, why: 'brackets of a string are text' },
    {
      json: String.raw`["\"[[[", "\\", [1]]`,
      depth: 2,
      why: 'an escaped quote does not end a string, an escaped backslash escapes nothing',
    },
    { json: '["ä€😀[", {"😀": []}]', depth: 3, why: 'longer characters hold no bracket' },
    { json: '['.repeat(400_000) + ']'.repeat(400_000), depth: 400_000, why: 'no depth runs out of stack' },
  ])('is $depth: $why', ({ json, depth }) => {
    expect(JSON.parse(json)).toBeDefined();
    expect(depthOf(Buffer.from(json))).toBe(depth);
  });
});

it('a body that does not come is given up, and the client may try again', async () => {
  const refusals: unknown[] = [];
  const server = fastify();
  server.addHook('onRequest', async (request) => void beginRecord(request.raw, '192.0.2.1'));
  parseJsonBodies(server, new UnfinishedBodies(new Metrics()), 20);
  server.setErrorHandler((error, _request, reply) => {
    refusals.push(error);
    void reply.status(408).send('');
  });
  server.post('/', () => 'read');
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  const connection = await connectRaw(url);
  connection.send(
    `${requestHead(url, { target: '/', headers: [['Content-Type', 'application/json']], declared: 100 })}{"slow":`,
  );
  expect((await connection.answer()).status).toBe(408);
  expect(refusals).toEqual([expect.any(RefusalError)]);
  expect(refusals[0]).toMatchObject({ code: 'invalid_request', status: 408, retryable: true });
  connection.destroy();
  await server.close();
});
