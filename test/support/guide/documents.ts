/** The README and the pages of the guide as tests read them, and a shell that runs their blocks marked `sh`. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, type TestService } from '../services/service.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const GUIDE = join(ROOT, 'apps/guide');

const COMMAND = join(ROOT, 'apps/cli/millwright.mjs');

/** Blocks run the command as it was built. */
export const IS_BUILT = existsSync(join(ROOT, 'dist/apps/cli/main.js'));

/** Of a document: its path as seen from the root, and its text. */
export interface Document {
  path: string;
  text: string;
}

export const README: Document = { path: 'README.md', text: readFileSync(join(ROOT, 'README.md'), 'utf8') };

/** Every page of the guide, in the order of their paths. */
export const PAGES: readonly Document[] = readdirSync(GUIDE, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
  .sort()
  .map((name) => ({
    path: relative(ROOT, join(GUIDE, name)),
    text: readFileSync(join(GUIDE, name), 'utf8'),
  }));

/** The text of a page by its path below the guide's folder. */
export function pageText(name: string): string {
  const page = PAGES.find(({ path }) => path === `apps/guide/${name}`);
  if (page === undefined) throw new Error(`the guide has no page ${name}`);
  return page.text;
}

/** A fenced block of code and the language that it is marked with. */
export interface Block {
  language: string;
  code: string;
}

export function blocksOf({ text }: Document): Block[] {
  return [...text.matchAll(/^( *)```(\S*)\n([\s\S]*?)^\1```$/gm)].map(([, , language = '', code = '']) => ({
    language,
    code,
  }));
}

/** Blocks marked `sh`: commands that a reader can paste, and that tests run. */
export function commandsOf(document: Document): string[] {
  return blocksOf(document).flatMap(({ language, code }) => (language === 'sh' ? [code] : []));
}

/** What a block's commands are given: the service, and what the text says that a reader has in variables. */
export type Variables = Record<string, string>;

/**
 * Runs the blocks of a page in order, and serves the folder `my-factory` once its secret has a value, as the text says
 * between two blocks. npm's own commands are left out: they are run by everybody who got here. Answers the first block
 * that failed, with its output.
 */
export async function runBlocks(
  document: Document,
  folder: string,
  variables: Variables,
  service: TestService,
): Promise<{ block: string; code: number | null; output: string } | undefined> {
  for (const block of commandsOf(document)) {
    const { code, output } = await shell(block.replace(/^npm .*$/gm, ''), folder, variables);
    if (code !== 0) return { block, code, output };
    if (block.includes('secrets set') && variables['FACTORY'] === undefined)
      Object.assign(variables, await serveFactory(service, join(folder, 'my-factory')));
  }
  return undefined;
}

async function serveFactory(service: TestService, path: string): Promise<Variables> {
  const uid = await service.factory('mine', { kind: 'directory', path });
  await eventually('the webhook is served', () =>
    service.service.serving.webhook(service.webhookUid('mine', 'builds')),
  );
  return { FACTORY: uid, INGRESS_URL: service.ingressUrl('mine', 'builds') };
}

/** Runs a block in one shell that stops at the first error. */
function shell(script: string, cwd: string, variables: Variables): Promise<{ code: number | null; output: string }> {
  const node = `"${process.execPath}" --disable-warning=ExperimentalWarning`;
  const preamble = `set -eu\nmillwright() { ${node} "${COMMAND}" "$@"; }\n`;
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', preamble + script], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, ...variables },
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('close', (code) => resolve({ code, output }));
  });
}
