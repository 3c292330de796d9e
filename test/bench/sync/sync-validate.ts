/**
 * What `validate` costs: over many files beside parsing them with `yaml` alone, and for a small folder beside starting
 * node.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { figureOf, timed, type Figure } from '../figures/figures.ts';
import { CLI, factoryFiles, ROOT } from './sync-stage.ts';

/** Folders of 2,000 files, the most that one factory may have. */
const FOLDERS = 5;
const WEBHOOKS = 20;
const AUTOMATIONS = 1_980;

/** What the installed command gives node. */
const AS_INSTALLED = '--disable-warning=ExperimentalWarning';
const node = async (args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [AS_INSTALLED, ...args])).stdout;
const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Each of the processes starts anew in every round: what it compiles and warms up is part of what people wait for. */
export async function manyFiles(box: string, rounds: number): Promise<Figure[]> {
  const folders = Array.from({ length: FOLDERS }, (_, at) => join(box, `factory-${at}`));
  for (const folder of folders) await write(folder);
  const [ours, bare, apart]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await timed(() => node([program('validate-folders.js'), ...folders])));
    bare.push(await timed(async () => expectAll(await node([program('yaml-alone.js'), ...folders]))));
    apart.push(
      await timed(async () => {
        for (const folder of folders) await node([CLI, 'validate', folder]);
      }),
    );
  }
  const files = FOLDERS * (WEBHOOKS + AUTOMATIONS);
  return [
    figureOf(
      `validate ${files} files, ${FOLDERS} factories in one process`,
      ours,
      { what: 'yaml alone', measured: bare },
      2,
    ),
    figureOf(`  the same as ${FOLDERS} calls of the command`, apart, { what: 'yaml alone', measured: bare }),
  ];
}

/** The example factory: a handful of files. */
export async function startUp(rounds: number): Promise<Figure[]> {
  const validate = (): Promise<string> => node([CLI, 'validate', join(ROOT, 'examples/factory-repo')]);
  const nothing = (): Promise<unknown> => promisify(execFile)(process.execPath, ['-e', '0']);
  await Promise.all([validate(), nothing()]);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await timed(validate));
    bare.push(await timed(nothing));
  }
  return [figureOf('start of validate, the example factory', ours, { what: 'node -e 0', measured: bare }, 4)];
}

async function write(folder: string): Promise<void> {
  for (const [path, text] of Object.entries(factoryFiles(WEBHOOKS, AUTOMATIONS))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

function expectAll(counted: string): void {
  if (Number(counted) !== FOLDERS * (WEBHOOKS + AUTOMATIONS))
    throw new Error(`yaml alone has seen ${counted.trim()} files`);
}
