/**
 * How soon an agent begins, and what a run costs beside the agent alone: `npm run bench:start [-- --runs 60] [--at-once
 * 4]`.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runBare, type BareTimes } from './peers/bare-agent.ts';
import { larger, memoryOf, watchMemory, type Memory } from './figures/process-memory.ts';
import { startAlone, type ServiceAlone } from './peers/service-alone.ts';

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '60' }, 'at-once': { type: 'string', default: '4' } },
});
const RUNS = Math.min(Number(options.runs), 1_000);
const AT_ONCE = Math.min(Number(options['at-once']), 32);
/** Before the timed ones: disk caches are warm afterwards, as on a machine that works. */
const WARMING_RUNS = 3;
/** Runs whose memory is looked at: they are not timed, because looking takes time. */
const MEMORY_RUNS = 5;
const RUN_MS_MAX = 60_000;
const ALL_MS_MAX = 10 * 60_000;

const PROMPT = 'Say hello.';
/** What the agent itself tells; everything before is the service's. */
const OF_AGENT = new Set(['message', 'thought', 'tool_call', 'plan']);
const ENDS = new Set(['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED']);

const key = `mw_${randomBytes(32).toString('base64url')}`;
const givenUpAtMs = performance.now() + ALL_MS_MAX;

/** Milliseconds from the answer to the request. */
interface RunTimes {
  /** When the agent told something for the first time, by the event's own time. */
  told: number;
  /** When somebody who watches the stream saw it. */
  seen: number;
  /** When the end was stored. */
  ended: number;
}

interface Streamed {
  event_type?: string;
  occurred_at?: string;
  payload?: { state?: string; message?: string };
}

const box = await mkdtemp(join(tmpdir(), 'millwright-bench-start-'));
let service: ServiceAlone | undefined;
try {
  service = await startAlone(join(box, 'data'), key, { MILLWRIGHT_RUN_CONCURRENCY: String(AT_ONCE) });
  await story(service);
} finally {
  await service?.stop();
  await rm(box, { recursive: true, force: true });
}

async function story(on: ServiceAlone): Promise<void> {
  const { sandbox } = (await get(on, '/readyz')) as { sandbox: { kind: string; means: string } };
  say(
    `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ` +
      `${process.version}; sandbox: ${sandbox.kind} (${sandbox.means}); demo model, ${RUNS} runs each; load ` +
      `before it began: ${(loadavg()[0] ?? 0).toFixed(1)}`,
  );
  for (let count = 0; count < WARMING_RUNS; count += 1) {
    await oneRun(on);
    await runBare(PROMPT);
  }
  const alone: RunTimes[] = [];
  const bare: BareTimes[] = [];
  for (let count = 0; count < RUNS; count += 1) {
    alone.push(await oneRun(on));
    bare.push(await runBare(PROMPT)); // in turn: what the machine does besides falls on both alike
  }
  const crowd = await atOnce(AT_ONCE, RUNS, () => oneRun(on));
  const bareCrowd = await atOnce(AT_ONCE, RUNS, () => runBare(PROMPT));

  say("\nfrom 202 to the agent's first event      median ms    p99 ms");
  line(
    'one after another',
    alone.map(({ told }) => told),
  );
  line(
    '  as a watcher of the stream sees it',
    alone.map(({ seen }) => seen),
  );
  line(
    '  the agent alone, to its first update',
    bare.map(({ firstUpdate }) => firstUpdate),
  );
  line(
    `${AT_ONCE} at once`,
    crowd.map(({ told }) => told),
  );
  line(
    '  as a watcher of the stream sees it',
    crowd.map(({ seen }) => seen),
  );
  line(
    '  the agent alone, to its first update',
    bareCrowd.map(({ firstUpdate }) => firstUpdate),
  );
  say('\na whole run                              median ms    p99 ms');
  line(
    'from 202 to its end',
    alone.map(({ ended }) => ended),
  );
  line(
    'the agent alone, to the end of its process',
    bare.map(({ ended }) => ended),
  );
  line(
    `from 202 to its end, ${AT_ONCE} at once`,
    crowd.map(({ ended }) => ended),
  );
  line(
    `the agent alone, ${AT_ONCE} at once`,
    bareCrowd.map(({ ended }) => ended),
  );
  await memory(on);
}

async function memory(on: ServiceAlone): Promise<void> {
  const pid = on.process.pid ?? 0;
  const before = memoryOf(pid);
  const inRuns: Memory[] = [];
  const bare: Memory[] = [];
  for (let count = 0; count < MEMORY_RUNS; count += 1) {
    const watched = watchMemory(pid, { withItself: false });
    await oneRun(on);
    inRuns.push(watched.peak());
    let alone: ReturnType<typeof watchMemory> | undefined;
    await runBare(PROMPT, (child) => (alone = watchMemory(child, { withItself: true })));
    if (alone !== undefined) bare.push(alone.peak());
  }
  const driver = watchMemory(pid, { withItself: true });
  await atOnce(AT_ONCE, AT_ONCE * 2, () => oneRun(on));
  const crowd = driver.peak();
  say('\nmemory at its peak, MiB                    resident  its share  processes');
  memoryLine('a run: sandbox, agent, its tools', inRuns.reduce(larger));
  memoryLine('the agent alone, its tools', bare.reduce(larger));
  memoryLine(`all, with ${AT_ONCE} runs at once`, crowd);
  memoryLine('the service, when it had done all runs', before);
  memoryLine('the service, now', memoryOf(pid));
}

async function oneRun(on: ServiceAlone): Promise<RunTimes> {
  if (performance.now() > givenUpAtMs)
    throw new Error(`not done within ${ALL_MS_MAX / 60_000} minutes; ask for fewer --runs`);
  const answer = await fetch(`${on.url}/api/v1/agent/runs`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: PROMPT }),
  });
  const acceptedAtMs = performance.timeOrigin + performance.now();
  const { run_id: runId } = (await answer.json()) as { run_id: string };
  return followed(on, runId, acceptedAtMs);
}

async function followed(on: ServiceAlone, runId: string, acceptedAtMs: number): Promise<RunTimes> {
  const since = (ms: number): number => ms - acceptedAtMs;
  let told: number | undefined;
  let seen = 0;
  const answer = await fetch(`${on.url}/api/v1/agent/runs/${runId}/events`, {
    headers: { ...headers(), accept: 'text/event-stream' },
    signal: AbortSignal.timeout(RUN_MS_MAX),
  });
  for await (const event of eventsOf(answer)) {
    const atMs = Date.parse(event.occurred_at ?? '');
    if (told === undefined && OF_AGENT.has(event.event_type ?? '')) {
      told = since(atMs);
      seen = since(performance.timeOrigin + performance.now());
    }
    const { state } = event.payload ?? {};
    if (state === undefined || !ENDS.has(state)) continue;
    if (state !== 'SUCCEEDED' || told === undefined)
      throw new Error(`a run ended as ${state}: ${event.payload?.message ?? ''}`);
    return { told, seen, ended: since(performance.timeOrigin + performance.now()) };
  }
  throw new Error('a stream ended before its run');
}

async function* eventsOf({ body }: Response): AsyncGenerator<Streamed> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const sent = /^data: ?(.*)$/m.exec(block)?.[1];
      if (sent !== undefined) yield JSON.parse(sent) as Streamed;
    }
  }
}

async function get(on: ServiceAlone, path: string): Promise<unknown> {
  return (await fetch(`${on.url}${path}`, { headers: headers() })).json();
}

function headers(): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

async function atOnce<T>(workers: number, count: number, work: () => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  let left = count;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (left-- > 0) done.push(await work());
    }),
  );
  return done;
}

function line(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0).padStart(9);
  say(`${name.padEnd(42)}${at(0.5)} ${at(0.99)}`);
}

function memoryLine(name: string, { residentBytes, ownBytes, processes }: Memory): void {
  const [resident, own] = [residentBytes, ownBytes].map((bytes) => (bytes / 1_048_576).toFixed(0)) as [string, string];
  say(`${name.padEnd(42)}${resident.padStart(9)} ${own.padStart(10)} ${String(processes).padStart(10)}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
