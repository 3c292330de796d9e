/** What the probe writes down of a program whose event loop is held up, and what is made of that. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
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

it('a loop that works for 60 ms has stalled for about as long, by itself', () => {
  expect(existsSync(built)).toBe(true);
  const file = join(folder, 'stalls');
  const work = 'const until = performance.now() + 60; while (performance.now() < until);';
  const program = `setTimeout(() => { ${work} setTimeout(() => process.exit(), 20); }, 50);`;
  execFileSync(process.execPath, ['--eval', program], { env: { PATH: process.env['PATH'], ...environmentOf(file) } });
  const stalls = stallsSince(file, 0);
  expect(longest(stalls, ({ lateMs }) => lateMs)).toBeGreaterThan(50);
  expect(longest(stalls, ({ ownMs }) => ownMs)).toBeGreaterThan(10);
});

it('what was before, and where nothing was written, is no stall', async () => {
  const file = join(folder, 'stalls');
  expect(stallsSince(file, 0)).toEqual([]);
  const [early, late] = [1, 2].map((atMs) => ({ atMs, lateMs: 40, ownMs: 5, waitedMs: 30 }));
  await writeFile(file, `${JSON.stringify(early)}\n${JSON.stringify(late)}\n`);
  expect(stallsSince(file, 2)).toEqual([late]);
  expect(stallsSince(file, 0).map(causedMs)).toEqual([10, 10]);
  expect(longest([], causedMs)).toBe(0);
});
