/**
 * All measurements that others can repeat, in one run on one machine: `npm run bench [-- --quick] [--only accept,soak]
 * [--database NAME] [--soak MINUTES] [--soak-rate N] [--json FILE]`.
 */
import { writeFile } from 'node:fs/promises';
import { accept } from './acceptance/accept.ts';
import { acceptance } from './acceptance/acceptance.ts';
import { metricsCost } from './acceptance/metrics-cost.ts';
import { attacks } from './attacks/attacks.ts';
import { readOptions, usageOf, type Options } from './figures/arguments.ts';
import { Bench, type Stage } from './bench.ts';
import { machine } from './figures/figures.ts';
import { isMet, linesOf, type Report } from './figures/report.ts';
import { many } from './scale/many.ts';
import { million } from './scale/million.ts';
import { receivers } from './peers/receivers.ts';
import { refused } from './acceptance/refused.ts';
import { replicas } from './scale/replicas.ts';
import { soak } from './soak/soak.ts';
import { upgrades } from './upgrades/upgrades.ts';

const STAGES: readonly Stage[] = [
  acceptance,
  accept,
  replicas,
  receivers,
  refused,
  attacks,
  metricsCost,
  upgrades,
  many,
  million,
  soak,
];

const EXIT_USAGE = 64;
const EXIT_SIGNAL = 130;

const options = optionsOf(process.argv.slice(2));
const bench = await Bench.begin(options);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void bench.end().finally(() => process.exit(EXIT_SIGNAL)));
try {
  await story(bench);
} finally {
  await bench.end();
}

/** Ends the process where it is only asked how to ask, or for what there is not: with one line. */
function optionsOf(argv: readonly string[]): Options {
  const stages = STAGES.map(({ name }) => name);
  try {
    const read = readOptions(argv, stages);
    if (read !== undefined) return read;
    process.stdout.write(usageOf(stages));
    return process.exit(0);
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
  console.log(
    Object.entries(where)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', '),
  );
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
  console.log(
    `\n${aims.filter(({ met }) => met).length} of ${aims.length} aims ` +
      `met${failures.length === 0 ? '' : `; FAILED: ${failures.join('; ')}`}`,
  );
  if (options.json !== undefined)
    await writeFile(options.json, `${JSON.stringify({ machine: where, reports, aims, failures }, null, 2)}\n`);
  if (failures.length > 0) process.exitCode = 1;
}
