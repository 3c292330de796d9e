/**
 * A bare node:http server that gives every request the answer that it was given on its standard input: what a client
 * costs, with as little of a service as there can be.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const answer = await text(process.stdin);
createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(answer),
      'x-request-id': '0191f7a2-0000-7000-8000-000000000001',
    });
    response.end(answer);
  });
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('ready\n'));
