/** What the probe writes down of a program whose event loop is held up, and what is made of that. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { causedMs, longest, stallsSince, type watchedEnvironment } from './loop-stalls.ts';

const built = fileURLToPath(new URL('../../../dist/test/bench/figures/loop-stalls.js', import.meta.url));
const { watchedEnvironment: environmentOf } = (await import(built)) as {
  watchedEnvironment: typeof watchedEnvironment;
};

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'millwright-stalls-'))));
afterEach(() => rm(folder, { recursive: true }));

const run = (program: string, file: string): unknown =>
  execFileSync(process.execPath, ['--eval', program], { env: { PATH: process.env['PATH'], ...environmentOf(file) } });

it('a loop that works has stalled for as long as that takes, by itself', () => {
  const file = join(folder, 'stalls');
  // Processor time: on a busy machine it may be given little of that for a while.
  const work = 'const { user } = process.cpuUsage(); while (process.cpuUsage().user - user < 60_000);';
  run(`setTimeout(() => { ${work} setTimeout(() => process.exit(), 20); }, 50);`, file);
  const stalls = stallsSince(file, 0);
  expect(longest(stalls, ({ ownMs }) => ownMs)).toBeGreaterThan(20);
  expect(longest(stalls, ({ lateMs }) => lateMs)).toBeGreaterThan(20);
});

it('a program that did nothing has not stalled, and one that nobody watched is not taken for that', () => {
  const file = join(folder, 'stalls');
  expect(() => stallsSince(file, 0)).toThrow('ENOENT');
  run('', file);
  expect(stallsSince(file, Date.now())).toEqual([]);
});

it('what was before is no stall of now, and what waited for a processor is not caused', async () => {
  const file = join(folder, 'stalls');
  const [early, late] = [1, 2].map((atMs) => ({ atMs, lateMs: 40, ownMs: 5, waitedMs: 30 }));
  await writeFile(file, `${JSON.stringify(early)}\n${JSON.stringify(late)}\n`);
  expect(stallsSince(file, 2)).toEqual([late]);
  expect(longest(stallsSince(file, 0), causedMs)).toBe(10);
  expect(longest([], causedMs)).toBe(0);
});
