/**
 * A service that is killed among creates: whoever repeats them under their idempotency keys ends up with one run each.
 * contract §3.2 (Create).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const ADMIN_KEY = `mw_${'a'.repeat(43)}`;
const ENVIRONMENT = { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_ADMIN_KEY: ADMIN_KEY, MILLWRIGHT_LOG_LEVEL: 'error' };
const CREATES = 400;
const CLIENTS = 24;
/** Killed when so many are answered. */
const ANSWERED_BEFORE = 100;

let dataDir: string;
let service: ServiceProcess;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-killed-'));
  service = await startServiceProcess(dataDir, ENVIRONMENT);
}, 120_000);

afterEach(async () => {
  service?.signal('SIGKILL');
  await service?.ended;
  await rm(dataDir, { recursive: true, force: true });
});

/** The run that a create was answered with; undefined when the connection broke before. */
async function create(number: number): Promise<string | undefined> {
  const headers = {
    authorization: `Bearer ${ADMIN_KEY}`,
    'content-type': 'application/json',
    'idempotency-key': `create-${number}`,
  };
  const answer = await fetch(`${service.url}/api/v1/agent/runs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ prompt: `number ${number}` }),
  })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch(() => undefined); // the connection broke
  if (answer === undefined) return undefined;
  if (answer.status !== 200) throw new Error(`create ${number} was answered ${answer.status}: ${answer.text}`);
  return (JSON.parse(answer.text) as { run_id: string }).run_id;
}

/** Sends all creates through some clients at once; answers the runs by number. */
async function createAll(onAnswer: (answered: number) => void): Promise<Map<number, string>> {
  const answered = new Map<number, string>();
  const left = Array.from({ length: CREATES }, (_, number) => number);
  const client = async (): Promise<void> => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) {
      const runId = await create(number);
      if (runId === undefined) continue;
      answered.set(number, runId);
      onAnswer(answered.size);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return answered;
}

it('kill -9 among 400 creates: repeated, each makes one run, and what was answered is answered again', async () => {
  const before = await createAll((answered) => {
    if (answered === ANSWERED_BEFORE) service.signal('SIGKILL');
  });
  expect(await service.ended).toBe('SIGKILL');
  expect(before.size).toBeLessThan(CREATES);

  service = await startServiceProcess(dataDir, ENVIRONMENT);
  const after = await createAll(() => undefined);
  expect(after.size).toBe(CREATES);
  for (const [number, runId] of before) expect([number, after.get(number)]).toEqual([number, runId]);
  const database = new Sqlite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  const runs = database.prepare('SELECT run_id, prompt FROM every_run').all() as { run_id: string; prompt: string }[];
  database.close();
  expect(runs).toHaveLength(CREATES);
  for (const { run_id: runId, prompt } of runs)
    expect([prompt, after.get(Number(prompt.split(' ')[1]))]).toEqual([prompt, runId]);
}, 300_000);
