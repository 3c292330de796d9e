/**
 * What the one-file command costs beside checkers of other trades on their own files, in turn: `npm run bench:cli [--
 * --rounds 10] [--files 2000]`. Every process starts anew in every round, with what it compiles and warms up.
 */
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { figureOf, lineOf, machine, timed, type Figure } from '../figures/figures.ts';
import { factoryFiles, ROOT } from '../sync/sync-stage.ts';
import { checkers, type Checker } from './checkers.ts';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, files: { type: 'string', default: '2000' } },
});
const ROUNDS = Math.min(Number(options.rounds), 200);
/** One factory has at most 2,000 definition files. */
const FILES = Math.min(Number(options.files), 2_000);
const WEBHOOKS = 20;

/** The most that a cold check of the example factory may take. */
const COLD_MS_MAX = 3_000;
/** 150 ms where `node -e 0` takes 40. */
const START_RATIO_MAX = 150 / 40;

const COMMAND = join(ROOT, 'dist/millwright.mjs');
const EXAMPLE = join(ROOT, 'examples/factory-repo');

type Measured = readonly [what: string, run: () => Promise<unknown>];

const box = await mkdtemp(join(tmpdir(), 'millwright-bench-cli-'));
try {
  await story(checkers());
} finally {
  await rm(box, { recursive: true, force: true });
}

async function story(others: readonly Checker[]): Promise<void> {
  const { size } = await stat(COMMAND);
  const on = Object.entries(machine()).map(([name, value]) => `${name} ${String(value)}`);
  say(`${on.join(', ')}; millwright.mjs of ${(size / 1e6).toFixed(2)} MB beside ${names(others)}; ${ROUNDS} rounds`);
  say(`${''.padEnd(58)}${'median'.padStart(8)} ${'p99'.padStart(8)}`);
  show(await oneFile(others));
  show([await cold()]);
  show(await manyFiles(others));
}

/** What each takes for the least that it can be asked for; what a program in Node cannot be below. */
async function oneFile(others: readonly Checker[]): Promise<Figure[]> {
  const [nothing, own, ...rest] = await inTurn([
    ['node -e 0', () => node(['-e', '0'])],
    ['', () => node([COMMAND, 'validate', EXAMPLE])],
    ...others.map((each): Measured => [each.name, () => program(each, [each.file])]),
  ]);
  return [
    figureOf('validate of the example factory, 3 files', own ?? [], beside('node -e 0', nothing), START_RATIO_MAX),
    ...others.map(({ name }, at) => figureOf('  the same', own ?? [], beside(`${name}, 1 file`, rest[at]))),
  ];
}

/** As on a build server: a folder, a home and a copy of the command that no process has met. */
async function cold(): Promise<Figure> {
  const measured: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const folder = join(box, `cold-${round}`);
    await mkdir(join(folder, 'home'), { recursive: true });
    await cp(EXAMPLE, join(folder, 'factory'), { recursive: true });
    await copyFile(COMMAND, join(folder, 'millwright.mjs'));
    const env = { PATH: process.env['PATH'], HOME: join(folder, 'home') };
    const run = (): Promise<unknown> =>
      promisify(execFile)(process.execPath, [join(folder, 'millwright.mjs'), 'validate', join(folder, 'factory')], {
        env,
      });
    measured.push(await timed(run));
    if ((await readdir(env.HOME)).length > 0) throw new Error('the command has left something behind in HOME');
  }
  return { ...figureOf('cold check of the example factory, the file at hand', measured), p99Max: COLD_MS_MAX };
}

async function manyFiles(others: readonly Checker[]): Promise<Figure[]> {
  const factory = join(box, 'factory');
  const files = Object.entries(factoryFiles(WEBHOOKS, FILES - WEBHOOKS));
  for (const [path, text] of files) {
    await mkdir(dirname(join(factory, path)), { recursive: true });
    await writeFile(join(factory, path), text);
  }
  const runs: Measured[] = [];
  for (const [at, each] of others.entries()) {
    const folder = join(box, `others-${at}`);
    await mkdir(folder);
    const theirs = each.files(FILES, folder);
    runs.push([each.name, () => program(each, theirs)]);
  }
  const [own, ...rest] = await inTurn([['', () => node([COMMAND, 'validate', factory])], ...runs]);
  return others.map(({ name }, at) =>
    figureOf(`validate of ${files.length} files, one factory`, own ?? [], beside(`${name}, ${FILES} files`, rest[at])),
  );
}

/** Milliseconds of each in every round, after one round that is not counted. */
async function inTurn(measured: readonly Measured[]): Promise<number[][]> {
  const results: number[][] = measured.map(() => []);
  for (let round = -1; round < ROUNDS; round += 1)
    for (const [at, [, run]] of measured.entries()) {
      const took = await timed(run);
      if (round >= 0) results[at]?.push(took);
    }
  return results;
}

function node(args: readonly string[]): Promise<unknown> {
  return promisify(execFile)(process.execPath, args);
}

function program({ program: file, arguments: args }: Checker, files: readonly string[]): Promise<unknown> {
  return promisify(execFile)(file, [...args, ...files], { maxBuffer: 64 * 2 ** 20 });
}

function beside(what: string, measured: readonly number[] = []): { what: string; measured: readonly number[] } {
  return { what, measured };
}

function names(others: readonly Checker[]): string {
  return others.map(({ name }) => name).join(' and ');
}

function show(figures: readonly Figure[]): void {
  for (const figure of figures) say(lineOf(figure));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
