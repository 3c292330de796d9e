/**
 * The TypeScript client as its users have it: packed, installed into an empty project from the tarball alone, with the
 * README's examples at hand.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGE = join(ROOT, 'libs/client-typescript');
/** What is needed to build and pack; packed elsewhere, so that nobody else's build is in the way. */
const SOURCES = ['src', 'build.mjs', 'package.json', 'tsconfig.json', 'README.md', 'CHANGELOG.md', 'LICENSE'];

/** A module that uses the types, the names of the models among them. */
export const CONSUMER = `import type {
  AmbientAgentConfig, Error, ListRunsResponse, MCPServerConfig, PageInfo, RunAgentRequest, RunAgentResponse,
  RunCreatorInfo, RunFollowupRequest, RunItem, RunSourceType, RunState, RunStatusMessage,
} from '@millwright/client';
import { Millwright, type Page } from '@millwright/client';

export const request: RunAgentRequest = {
  prompt: 'p',
  config: {
    mcp_servers: { docs: { url: 'http://127.0.0.1' } satisfies MCPServerConfig },
  } satisfies AmbientAgentConfig,
};
export const followup: RunFollowupRequest = { message: 'm' };
export function read(list: ListRunsResponse): [
  RunItem | undefined, PageInfo, RunState | undefined, RunSourceType | undefined,
  RunCreatorInfo | undefined, RunStatusMessage | undefined,
] {
  const [run] = list.runs;
  return [run, list.page_info, run?.state, run?.source, run?.creator, run?.status_message];
}
export function titleAndError(problem: Error): string {
  return problem.title + problem.error;
}
export async function typed(client: Millwright): Promise<string> {
  const created: RunAgentResponse = await client.agent.runs.create(request);
  const page: Page<RunItem, ListRunsResponse> = await client.agent.runs.list({
    state: 'FAILED', source: ['API'], created_after: new Date(0), metadata: { key: 'value' },
  });
  const bytes: Uint8Array = await client.agent.artifacts.download('a');
  const nothing: void = await client.secrets.delete('name', { force: true });
  // @ts-expect-error -- the types know which states there are
  void client.agent.runs.list({ state: 'NOWHERE' });
  // @ts-expect-error -- a webhook has a name
  void client.factories.webhooks.create('f', {});
  // @ts-expect-error -- an automation is edited as it was read
  void client.factories.automations.update('f', 'a', { enabled: false });
  return [created.run_id, page.body.runs.length, bytes.length, nothing].join();
}
`;

export interface Ended {
  code: number | null;
  output: string;
}

export interface Project {
  folder: string;
  tarball: string;
  /** Runs a program in the project; answers how it ended, and what it wrote to both outputs. */
  run(program: string, args: readonly string[], environment?: Record<string, string>): Promise<Ended>;
  write(path: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

/** The README's examples in TypeScript, in order. */
export function readmeExamples(): string[] {
  return [...readFileSync(join(PACKAGE, 'README.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
    ([, text]) => text!,
  );
}

/** The README's program in CommonJS, exactly as it stands there. */
export function readmeCommonJs(): string {
  return /^```js\n([\s\S]*?)^```$/m.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8'))![1]!;
}

/** The files of examples/ by name. */
export async function exampleFiles(): Promise<Map<string, string>> {
  const names = (await readdir(join(PACKAGE, 'examples'))).filter((name) => name.endsWith('.ts')).sort();
  return new Map(names.map((name) => [name.slice(0, -3), readFileSync(join(PACKAGE, 'examples', name), 'utf8')]));
}

/** Packs the client and installs it, without a network, into a project that has nothing else. */
export async function installedClient(): Promise<Project> {
  const home = await mkdtemp(join(tmpdir(), 'millwright-client-'));
  const folder = join(home, 'project');
  const run = (program: string, args: readonly string[], environment?: Record<string, string>): Promise<Ended> =>
    ended(program, args, folder, environment);
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await write('package.json', JSON.stringify({ name: 'project', version: '1.0.0', private: true, type: 'module' }));
  const tarball = await pack(home);
  const { code, output } = await run('npm', [
    'install',
    '--offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    tarball,
  ]);
  if (code !== 0) throw new Error(`the tarball could not be installed:\n${output}`);
  return { folder, tarball, run, write, remove: () => rm(home, { recursive: true, force: true }) };
}

async function pack(home: string): Promise<string> {
  const source = join(home, 'package');
  await mkdir(source);
  for (const name of SOURCES) await cp(join(PACKAGE, name), join(source, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  const { code, output } = await ended(
    'npm',
    ['pack', '--offline', '--loglevel=error', '--pack-destination', home],
    source,
  );
  if (code !== 0) throw new Error(`the client could not be packed:\n${output}`);
  const tarball = (await readdir(home)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('packing made no tarball');
  await rm(join(home, 'node_modules'));
  return join(home, tarball);
}

function ended(
  program: string,
  args: readonly string[],
  cwd: string,
  environment: Record<string, string> = {},
): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, args, { cwd, env: { PATH, HOME, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) =>
    child.once('error', reject).once('close', (code) => resolve({ code, output })),
  );
}

/** A tsconfig.json that lets nothing pass, in declarations neither. */
export function strictly(include: readonly string[]): string {
  return JSON.stringify({
    compilerOptions: {
      target: 'ES2022',
      lib: ['ES2022'],
      module: 'NodeNext',
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      rootDir: '.',
      outDir: 'out',
    },
    include,
  });
}
