/** The counterpart: a bare node:http server that reads the body and answers 202. */
import { createServer } from 'node:http';

const ANSWER = '{"delivery_id": "0123456789abcdef0123456789abcdef"}';

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks);
    response.writeHead(202, { 'content-type': 'application/json', 'content-length': ANSWER.length });
    response.end(ANSWER);
  });
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('ready\n'));
