/**
 * What a call of a model costs through the broker of a run beside one that goes straight to it: `npm run bench:broker`.
 * The way is that of a run: a forwarder process, the proxy's socket, the broker in another process's event loop.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, request as startRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostPatternOfUrl } from '#isolation';
import { openEgressProxy } from '../../apps/server/execution/egress/egress-proxy.ts';
import { freePort } from '../support/network/ports.ts';

const CALLS = 400;
const WARM_UP = 50;
/** Events of one answer, as a model streams a sentence. */
const EVENTS = 20;
/** Milliseconds that a call may cost more. */
const MORE_MS_MAX = 5;
const PLACEHOLDER = 'mw-placeholder-of-a-measurement';
const FORWARDER = fileURLToPath(new URL('../../apps/server/execution/egress/egress-forwarder.mjs', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'millwright-bench-broker-'));
const model = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let index = 0; index < EVENTS; index += 1)
      response.write(`data: {"choices":[{"delta":{"content":"word ${index}"}}],"usage":null}\n\n`);
    response.end('data: {"choices":[],"usage":{"prompt_tokens":25000,"completion_tokens":20}}\n\ndata: [DONE]\n\n');
  });
}).listen(0, '127.0.0.1');
await once(model, 'listening');
const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
const hosts = [hostPatternOfUrl(url)].filter((pattern) => pattern !== undefined);
let tokens = 0;
const egress = await openEgressProxy({
  rules: { policy: { kind: 'none' }, named: [] },
  folder,
  epoch: 1,
  onEvent: (text) => console.error(text),
  broker: {
    rules: { policy: { kind: 'allow', hosts }, named: hosts },
    hosts: [],
    mcp: [],
    models: {
      routes: [
        {
          id: 'model',
          apis: ['openai'],
          baseUrl: `${url}/v1`,
          keys: [{ placeholder: PLACEHOLDER, value: 'the-key-of-a-measurement' }],
          models: ['m-1'],
          isTrusted: true,
        },
      ],
      onUsage: ({ inputTokens, outputTokens }) => (tokens += inputTokens + outputTokens),
      refusal: () => undefined,
    },
  },
});
const port = await freePort();
const forwarder = spawn(process.execPath, [FORWARDER, egress.socket, String(port)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(forwarder.stdout, 'data');
try {
  for (const kib of [1, 100, 1_000]) await compare(kib);
  if (tokens !== 3 * (CALLS + WARM_UP) * 25_020) throw new Error('the broker has counted something else');
} finally {
  forwarder.kill('SIGKILL');
  await egress.close();
  model.closeAllConnections();
  model.close();
  await rm(folder, { recursive: true, force: true });
}

async function compare(kib: number): Promise<void> {
  const content = 'x'.repeat(kib * 1_024);
  const body = JSON.stringify({ model: 'm-1', stream: true, messages: [{ role: 'user', content }] });
  const direct = new Agent({ keepAlive: true, maxSockets: 1 });
  const brokered = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: { direct: number[]; brokered: number[] } = { direct: [], brokered: [] };
  // One after the other in turns: what slows the machine slows both.
  for (let call = 0; call < CALLS + WARM_UP; call += 1) {
    const one = await timed(direct, `${url}/v1/chat/completions`, body);
    const other = await timed(brokered, `http://127.0.0.1:${port}/models/model/chat/completions`, body);
    if (call < WARM_UP) continue;
    times.direct.push(one);
    times.brokered.push(other);
  }
  direct.destroy();
  brokered.destroy();
  const at = (list: number[], share: number): number =>
    list.sort((a, b) => a - b)[Math.floor(list.length * share)] ?? 0;
  const ms = (share: number): string =>
    `${at(times.direct, share).toFixed(2)} ms direct, ${at(times.brokered, share).toFixed(2)} ms brokered`;
  const more = at(times.brokered, 0.5) - at(times.direct, 0.5);
  const verdict = more <= MORE_MS_MAX ? 'within' : 'ABOVE';
  console.log(
    `a call of ${kib} KiB: median ${ms(0.5)}; p99 ${ms(0.99)}; ` +
      `${more.toFixed(2)} ms more, ${verdict} ${MORE_MS_MAX} ms`,
  );
}

/** Milliseconds from the request to the end of its answer. */
async function timed(agent: Agent, target: string, body: string): Promise<number> {
  const began = performance.now();
  const request = startRequest(target, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${PLACEHOLDER}` },
  });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
  await once(answer.resume(), 'end');
  return performance.now() - began;
}
