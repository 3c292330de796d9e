/**
 * A proxy on loopback that fails as it is told: `node fault-proxy.mjs http://127.0.0.1:8080`. Plain Node, no packages,
 * so that tests of every language can start it. It prints {"proxy", "control"}, the two addresses, as one line, and
 * ends with its standard input.
 *
 *   POST   control/faults    a list of faults; each is taken by the next request that it fits, in order
 *   GET    control/requests  what has come in: [{method, path, headers, fault?, status?}]; status: what was sent back
 *   whole
 *   DELETE control/          forgets both
 *
 * A fault: {"kind", "method"?, "path"? (begin of the path), …}. Kinds:
 *   answer      {status, headers?, body?} instead of the service's answer; it never hears of the request
 *   refuse      the connection is cut at once; the service never hears of the request
 *   lose        the service does what it is asked, the connection is cut before its answer
 *   cut_headers … within the headers of its answer
 *   cut_body    … within the body of its answer
 *   truncate    half of its answer as if it were the whole
 *   hang        nothing is answered; the service never hears of the request
 *   hang_body   the headers and half of the body of its answer, then nothing more
 *   drip        its answer, a byte at a time, {"pause_ms"} apart
 *   cut_stream  {after_events} of its server-sent events with an id and half of the next one, then the connection is
 *   cut
 *   end_stream  the same, but the stream ends as if it were over
 */
import { createServer, request as ask } from 'node:http';

const HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'host',
  'expect',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]);
const KINDS = new Set([
  'answer',
  'refuse',
  'lose',
  'cut_headers',
  'cut_body',
  'truncate',
  'hang',
  'hang_body',
  'drip',
  'cut_stream',
  'end_stream',
]);
const MEMBERS = new Set(['kind', 'method', 'path', 'status', 'headers', 'body', 'pause_ms', 'after_events']);

const target = new URL(process.argv[2] ?? 'http://127.0.0.1:8080');
let faults = [];
let seen = [];

const proxy = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
const control = createServer(
  (request, response) =>
    void steer(request, response).catch((error) => response.writeHead(400).end(String(error.message))),
);
const [proxyUrl, controlUrl] = await Promise.all([proxy, control].map(listen));
process.stdout.write(`${JSON.stringify({ proxy: proxyUrl, control: controlUrl })}\n`);
process.stdin.resume().on('close', () => process.exit(0));

function listen(server) {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`)),
  );
}

async function serve(request, response) {
  const fault = faultFor(request);
  const entry = {
    method: request.method,
    path: request.url,
    headers: request.headers,
    ...(fault === undefined ? {} : { fault: fault.kind }),
  };
  seen.push(entry);
  response.on('finish', () => (entry.status = response.statusCode));
  const body = await read(request);
  if (fault?.kind === 'answer') return void response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? '');
  if (fault?.kind === 'refuse') return void response.socket?.destroy();
  if (fault?.kind === 'hang') return;
  const answer = await forward(request, body, response);
  const give = FAULTS[fault?.kind];
  if (give === undefined) return void answer.pipe(opened(answer, response));
  await give(answer, response, fault);
}

/** The first fault that fits the request; it is spent. */
function faultFor({ method, url }) {
  const index = faults.findIndex((fault) => (fault.method ?? method) === method && url.startsWith(fault.path ?? ''));
  return index === -1 ? undefined : faults.splice(index, 1)[0];
}

/** The service's answer. A client that goes away takes its request with it. */
function forward({ method, url, headers }, body, response) {
  return new Promise((resolve, reject) => {
    const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name)));
    const onward = ask(
      { host: target.hostname, port: target.port, method, path: url, headers: { ...passed, host: target.host } },
      resolve,
    ).on('error', reject);
    response.on('close', () => onward.destroy());
    onward.end(body);
  });
}

/** Begins to answer as the service does, with other headers where they are said. */
function opened(answer, response, headers = {}) {
  const passed = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP_HEADERS.has(name)));
  response.writeHead(answer.statusCode, { ...passed, ...headers });
  response.flushHeaders();
  return response;
}

const FAULTS = {
  async lose(answer, response) {
    await read(answer); // all of it: what was asked for has happened
    response.socket.destroy();
  },
  async cut_headers(answer, response) {
    await read(answer);
    response.socket.write(`HTTP/1.1 ${answer.statusCode} OK\r\nContent-Ty`, () => response.socket.destroy());
  },
  async cut_body(answer, response) {
    const body = await read(answer);
    opened(answer, response, { 'content-length': body.length }).write(half(body), () => response.socket.destroy());
  },
  async truncate(answer, response) {
    const part = half(await read(answer));
    opened(answer, response, { 'content-length': part.length }).end(part);
  },
  async hang_body(answer, response) {
    const body = await read(answer);
    opened(answer, response, { 'content-length': body.length }).write(half(body));
  },
  async drip(answer, response, { pause_ms: pauseMs = 1 }) {
    const body = await read(answer);
    opened(answer, response, { 'content-length': body.length });
    for (const byte of body) {
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    response.end();
  },
  cut_stream: (answer, response, { after_events: count = 1 }) =>
    someEvents(answer, response, count, () => response.socket.destroy()),
  end_stream: (answer, response, { after_events: count = 1 }) =>
    someEvents(answer, response, count, () => response.end()),
};

/** Passes whole blocks of a stream on until so many of them had an id; then half of the next one, and `over`. */
async function someEvents(answer, response, count, over) {
  opened(answer, response);
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      if (!block.startsWith('id:')) response.write(`${block}\n\n`);
      else if (count > 0) response.write(`${block}\n\n`);
      else return void response.write(block.slice(0, block.length / 2), over);
      count -= block.startsWith('id:') ? 1 : 0;
    }
  }
  response.end();
}

async function steer(request, response) {
  const text = String(await read(request));
  const what = `${request.method} ${request.url}`;
  if (what === 'POST /faults') faults.push(...JSON.parse(text).map(checked));
  else if (what === 'DELETE /') [faults, seen] = [[], []];
  else if (what !== 'GET /requests') return void response.writeHead(404).end();
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify(what === 'GET /requests' ? { requests: seen, faults_left: faults.length } : {}));
}

function checked(fault) {
  const unknown = Object.keys(fault).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined || !KINDS.has(fault.kind)) throw new Error(`no such fault: ${unknown ?? fault.kind}`);
  return fault;
}

async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function half(body) {
  return body.subarray(0, Math.floor(body.length / 2));
}
