/** The next version of the program: a copy of this one with one more migration, which adds or takes away. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { IS_BUILT, REPOSITORY } from './node-arguments.ts';

const PARTS = ['apps/server', 'apps/cli', 'apps/agent', 'libs', 'schemas', 'test/support'];
/** As arguments of `.ci/suite-programs.mjs`. */
const PROGRAMS = ['apps/agent/main', 'test/support/services/serve-program', 'test/support/services/supervised-program'];
const NAME = 'NextVersion1700000000099';

export interface NextVersion {
  root: string;
  remove(): void;
}

/** `statements`: of its migration; `oldestReader`: what it asks of programs, where it takes something away. */
export function nextVersion(statements: readonly string[], oldestReader?: number): NextVersion {
  const root = mkdtempSync(join(tmpdir(), 'millwright-next-'));
  for (const file of filesOfVersion()) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(REPOSITORY, file), join(root, file));
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
  const manifest = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { version: string };
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...manifest, version: '99.0.0' }));
  const [store, ending] = IS_BUILT ? ['dist/apps/server/store', '.js'] : ['apps/server/store', '.ts'];
  addMigration(join(root, store), ending, migration(statements, oldestReader));
  if (IS_BUILT)
    execFileSync(process.execPath, [join(REPOSITORY, '.ci/suite-programs.mjs'), root, ...PROGRAMS], { stdio: 'pipe' });
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** The sources, or what was built of them. */
function filesOfVersion(): string[] {
  if (!IS_BUILT) {
    const asked = ['ls-files', '-co', '--exclude-standard', '-z', ...PARTS, '.swcrc'];
    const listed = execFileSync('git', asked, { cwd: REPOSITORY });
    return listed
      .toString()
      .split('\0')
      .filter((file) => file !== '');
  }
  const built = PARTS.map((name) => join('dist', name)).filter((name) => existsSync(join(REPOSITORY, name)));
  const below = built.flatMap((name) =>
    readdirSync(join(REPOSITORY, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.spec\.|\.map$/.test(entry.name))
      .map((entry) => relative(REPOSITORY, join(entry.parentPath, entry.name))),
  );
  return [...below, 'dist/.millwright-built'];
}

function addMigration(store: string, ending: string, source: string): void {
  writeFileSync(join(store, `migrations/0099-next-version${ending}`), source);
  const list = join(store, `database/migrations${ending}`);
  const text = readFileSync(list, 'utf8');
  const added = text
    .replace('export const MIGRATIONS = [', `import { ${NAME} } from '../migrations/0099-next-version${ending}';\n$&`)
    .replace(/(export const MIGRATIONS = \[[^\]]*)\]/, `$1  ${NAME},\n]`);
  if (!added.includes(`  ${NAME},`)) throw new Error('the list of migrations has another form');
  writeFileSync(list, added);
}

function migration(statements: readonly string[], oldestReader: number | undefined): string {
  const reader = oldestReader === undefined ? '' : `  static oldestReader = ${oldestReader};\n`;
  const queries = statements.map((text) => `    await runner.query(${JSON.stringify(text)});\n`).join('');
  return (
    `export class ${NAME} {\n  name = '${NAME}';\n${reader}` +
    `  async up(runner) {\n${queries}  }\n  async down() {}\n}\n`
  );
}
