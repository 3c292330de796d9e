/**
 * Runs under random kills of service and agents: none lost, none doubled, every log continuous. CRASH_RUNS says how
 * many, CRASH_SEED repeats the decisions of a storm.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { storm } from './storm.ts';

const RUNS = Number(process.env['CRASH_RUNS'] ?? 12);
const SEED = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
/** Milliseconds: a restart takes some seconds on a busy machine, and each kill has one. */
const TIME_MS_MAX = 120_000 + RUNS * 15_000;

it(
  `${RUNS} runs among random kills (CRASH_SEED=${SEED}): no run lost, none doubled, every log continuous, ` +
    'nothing left running',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millwright-storm-'));
    const beganAt = performance.now();
    try {
      const { broken, ...report } = await storm({ runs: RUNS, seed: SEED, dataDir, timeMsMax: TIME_MS_MAX });
      process.stderr.write(
        `${RUNS} runs, seed ${SEED}, ${Math.round((performance.now() - beganAt) / 1_000)} s: ` +
          `${JSON.stringify(report)}\n`,
      );
      expect(broken).toEqual([]);
      expect(report.did.serviceKills).toBeGreaterThan(0);
      expect(report.states['SUCCEEDED']).toBeGreaterThan(0);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  TIME_MS_MAX + 30_000,
);
