/** All measurements that others can repeat, in one run on one machine: `npm run bench [-- --quick] [--only accept,soak] [--soak MINUTES] [--json FILE]`. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { accept } from './accept.ts';
import { Bench, type Stage } from './bench.ts';
import { machine } from './figures.ts';
import { isMet, linesOf, type Report } from './report.ts';
import { many } from './many.ts';
import { million } from './million.ts';
import { receivers } from './receivers.ts';
import { refused } from './refused.ts';
import { replicas } from './replicas.ts';
import { soak } from './soak.ts';

const STAGES: readonly Stage[] = [accept, replicas, receivers, refused, many, million, soak];

const EXIT_USAGE = 64;
const EXIT_SIGNAL = 130;
/** A day. */
const SOAK_MINUTES_MAX = 1_440;

const options = readOptions();
const bench = await Bench.begin({ quick: options.quick, soakMinutes: options.soakMinutes });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bench.end().finally(() => process.exit(EXIT_SIGNAL)));
try {
  await story(bench);
} finally {
  await bench.end();
}

interface Options {
  quick: boolean;
  /** Names of stages; undefined: all. */
  only?: readonly string[];
  /** 0: none. */
  soakMinutes: number;
  json?: string;
}

/** What the command line asks for; ends the process with one line where it asks for what there is not. */
function readOptions(): Options {
  try {
    const { quick = false, only, soak = '0', json } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' }, soak: { type: 'string' }, json: { type: 'string' } } }).values;
    const names = only?.split(',');
    const unknown = names?.filter((name) => !STAGES.some((stage) => stage.name === name)) ?? [];
    if (unknown.length > 0) throw new TypeError(`--only: there is no stage ${unknown.join(', ')}; there are ${STAGES.map(({ name }) => name).join(', ')}`);
    const soakMinutes = Number(soak);
    if (!(soakMinutes >= 0 && soakMinutes <= SOAK_MINUTES_MAX)) throw new TypeError(`--soak: must be minutes from 0 to ${SOAK_MINUTES_MAX}`);
    return { quick, only: names, soakMinutes, json };
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n`);
    return process.exit(EXIT_USAGE);
  }
}

/** Half an hour is only for those who ask for it. */
function isWanted({ name }: Stage): boolean {
  return options.only?.includes(name) ?? (name !== 'soak' || options.soakMinutes > 0);
}

async function story(on: Bench): Promise<void> {
  const where = { ...machine(), ...(await on.disk()), quick: on.quick, at: new Date().toISOString() };
  console.log(Object.entries(where).map(([name, value]) => `${name} ${String(value)}`).join(', '));
  const reports: Report[] = [];
  const failures: string[] = [];
  for (const stage of STAGES.filter(isWanted)) {
    const beganAtMs = performance.now();
    try {
      const made = await stage.run(on);
      reports.push(...made);
      for (const report of made) console.log(`\n${linesOf(report).join('\n')}`);
    } catch (error) {
      failures.push(`${stage.name}: ${(error as Error).message}`);
      console.log(`\n${stage.name}: FAILED ${(error as Error).stack}`);
    } finally {
      await on.endStage();
    }
    console.log(`(${stage.name} took ${((performance.now() - beganAtMs) / 1_000).toFixed(0)} s)`);
  }
  const aims = reports.flatMap((report) => report.aims.map((aim) => ({ ...aim, met: isMet(aim) })));
  console.log(`\n${aims.filter(({ met }) => met).length} of ${aims.length} aims met${failures.length === 0 ? '' : `; FAILED: ${failures.join('; ')}`}`);
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify({ machine: where, reports, aims, failures }, null, 2)}\n`);
  if (failures.length > 0) process.exitCode = 1;
}
