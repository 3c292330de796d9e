/**
 * What following repositories costs, each figure beside a counterpart in the same run: `npm run bench:sync [-- --quick]
 * [--only passes,push,validate,many] [--factories 1000] [--window 120]`.
 */
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { lineOf, machine, type Figure } from '../figures/figures.ts';
import { manyFactories, type ManyFactories } from './sync-many.ts';
import { fullPasses, idlePasses } from './sync-passes.ts';
import { pushes } from './sync-push.ts';
import { startGitHost, startService, type GitHost, type Service } from './sync-stage.ts';
import { manyFiles, startUp } from './sync-validate.ts';

const SECTIONS = ['passes', 'push', 'validate', 'many'];
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: SECTIONS.join(',') },
    factories: { type: 'string' },
    window: { type: 'string' },
  },
});
const isQuick = options.quick;
const sections = options.only.split(',');
const FACTORIES = Math.min(Number(options.factories ?? (isQuick ? 100 : 1_000)), 2_000);
/** Whole intervals: factories whose first passes ended together go on together. */
const WINDOW_SECONDS = Math.min(Number(options.window ?? (isQuick ? 60 : 120)), 600);

const box = await mkdtemp(join(tmpdir(), 'millwright-bench-sync-'));
const host = await startGitHost();
const services: Service[] = [];
try {
  await story(host);
} finally {
  await Promise.all(services.map((service) => service.stop()));
  await host.stop();
  await rm(box, { recursive: true, force: true });
}

async function story(on: GitHost): Promise<void> {
  const unknown = sections.filter((part) => !SECTIONS.includes(part));
  if (unknown.length > 0) throw new Error(`--only takes ${SECTIONS.join(', ')}`);
  const baseline = machine();
  say(
    `${Object.entries(baseline)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', ')}; https over loopback, SQLite; git host and service are processes of their own`,
  );
  say(`${''.padEnd(58)}${'median'.padStart(8)} ${'p99'.padStart(8)}`);
  const figures: Figure[] = [];
  const show = (more: readonly Figure[]): void => {
    figures.push(...more);
    for (const figure of more) say(lineOf(figure));
  };
  if (sections.includes('passes') || sections.includes('push'))
    await onService('small', async (service, folder) => {
      if (sections.includes('passes')) show(await idlePasses(on, service, folder, isQuick ? 10 : 40));
      if (sections.includes('passes')) show(await fullPasses(on, service, folder, isQuick ? 1 : 5, isQuick ? 3 : 10));
      if (sections.includes('push')) show(await pushes(on, service, folder, isQuick ? 10 : 40));
    });
  if (sections.includes('validate')) show(await manyFiles(box, isQuick ? 2 : 7));
  if (sections.includes('validate')) show(await startUp(isQuick ? 5 : 30));
  const many = sections.includes('many')
    ? await onService('many', (service, folder) => manyFactories(on, service, folder, FACTORIES, WINDOW_SECONDS))
    : undefined;
  if (many !== undefined) sayMany(many);
  say(JSON.stringify({ machine: baseline, figures, many }));
}

async function onService<Result>(
  name: string,
  work: (service: Service, folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = join(box, name);
  await mkdir(folder);
  const service = await startService(host, join(folder, 'data'));
  services.push(service);
  const result = await work(service, folder);
  await service.stop();
  return result;
}

function sayMany(many: ManyFactories): void {
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  say(
    `${many.factories} factories every ${many.interval_seconds} s, over ${many.window_seconds} s: ` +
      `${many.passes_per_second} passes/s; of one processor the service takes ${percent(many.service_cpu_share)}` +
      `, its git processes ${percent(many.git_children_cpu_share)} (git ls-remote alone, as often: ` +
      `${percent(many.ls_remote_cpu_share)})`,
  );
  say(
    `memory of the service: ${many.memory_mib_before} MiB before, ${many.memory_mib_first_passes_done} MiB ` +
      `after all first passes (${many.first_passes_seconds} s), ${many.memory_mib_at_the_end} MiB at the end`,
  );
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
