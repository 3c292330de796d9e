/**
 * What a call costs with our clients beside bare fetch and bare httpx, one after the other on one connection: `npm run
 * bench:clients [-- --calls 1000]`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Millwright } from '#client';
import { freePort } from '../support/network/ports.ts';
import { figureOf, lineOf, machine, timed } from './figures/figures.ts';
import { startAlone } from './peers/service-alone.ts';

/** More than this is too much for what a client does. */
const RATIO_MAX = 1.3;
const WARMING_CALLS = 200;

const { values: options } = parseArgs({ options: { calls: { type: 'string', default: '1000' } } });
const CALLS = Math.min(Number(options.calls), 100_000);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const python = join(root, 'libs/client-python');

/** What is asked for: the same run again and again. */
interface Target {
  name: string;
  url: string;
  key: string;
  runId: string;
}

/** Milliseconds of each call, with the client and without. */
interface Measured {
  what: string;
  bare: string;
  own: number[];
  beside: number[];
}

const box = await mkdtemp(join(tmpdir(), 'millwright-bench-clients-'));
const key = `mw_${randomBytes(32).toString('base64url')}`;
const service = await startAlone(join(box, 'data'), key, { MILLWRIGHT_RUN_CONCURRENCY: '0' });
try {
  console.log(
    `${Object.entries(machine())
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')}; ${CALLS} calls of each, in turn, on loopback; milliseconds: median, p99`,
  );
  const { run_id: runId } = await new Millwright({ baseURL: service.url, apiKey: key }).agent.run({
    prompt: 'Count the herons.',
    metadata: { team: 'birds' },
  });
  const target = { name: 'the service', url: service.url, key, runId };
  await measure(target);
  await beforeSameAnswer(target, measure);
} finally {
  await service.stop();
  await rm(box, { recursive: true, force: true });
}

/** Prints a line for each client. */
async function measure(target: Target): Promise<void> {
  for (const { what, bare, own, beside } of [await typescript(target), ...pythons(target)]) {
    console.log(lineOf(figureOf(`${what}, ${target.name}`, own, { what: bare, measured: beside }, RATIO_MAX)));
  }
}

/** The same with a server that only answers: nothing hides what the client costs. */
async function beforeSameAnswer(
  { url, runId, ...target }: Target,
  work: (target: Target) => Promise<void>,
): Promise<void> {
  const answer = await (
    await fetch(`${url}/api/v1/agent/runs/${runId}`, { headers: { authorization: `Bearer ${target.key}` } })
  ).text();
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./peers/fixed-response-server.js', import.meta.url)), String(port)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  try {
    child.stdin.end(answer);
    await once(child.stdout, 'data');
    await work({ ...target, name: 'a bare server', url: `http://127.0.0.1:${port}`, runId });
  } finally {
    child.kill();
  }
}

async function typescript({ url, key: apiKey, runId }: Target): Promise<Measured> {
  const client = new Millwright({ baseURL: url, apiKey });
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
  const withClient = (): Promise<unknown> => client.agent.runs.retrieve(runId);
  const withFetch = async (): Promise<unknown> =>
    (await fetch(`${url}/api/v1/agent/runs/${runId}`, { headers })).json();
  const measured: Measured = { what: 'TypeScript', bare: 'fetch', own: [], beside: [] };
  for (let count = -WARMING_CALLS; count < CALLS; count += 1) {
    // In turn: what the machine does besides falls on both alike.
    const [own, beside] = [await timed(withClient), await timed(withFetch)];
    if (count < 0) continue;
    measured.own.push(own);
    measured.beside.push(beside);
  }
  return measured;
}

/** Both kinds of the Python client; none where there is no Python for it, which is said. */
function pythons({ url, key: apiKey, runId }: Target): Measured[] {
  const prepared = spawnSync('python3', [join(python, 'test.py'), '--prepare'], { encoding: 'utf8' });
  if (prepared.status !== 0 || prepared.stdout.includes('SKIPPED')) {
    console.log(`Python: SKIPPED (${prepared.error?.message ?? prepared.stdout.trim()})`);
    return [];
  }
  const environment = {
    PATH: process.env['PATH'],
    PYTHONPATH: join(python, 'src'),
    MILLWRIGHT_BASE_URL: url,
    MILLWRIGHT_API_KEY: apiKey,
  };
  const args = [
    join(python, 'bench/calls.py'),
    '--run',
    runId,
    '--calls',
    String(CALLS),
    '--warming',
    String(WARMING_CALLS),
  ];
  const done = spawnSync(join(python, '.venv/bin/python'), args, {
    encoding: 'utf8',
    env: environment,
    maxBuffer: 1e9,
  });
  if (done.status !== 0) throw new Error(`the Python client could not be measured: ${done.stderr}`);
  return JSON.parse(done.stdout) as Measured[];
}
