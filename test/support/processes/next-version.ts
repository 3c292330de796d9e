/** The next version of the program: a copy of the sources with one more migration, which adds or takes away. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PARTS = ['apps/server', 'apps/cli', 'apps/agent', 'libs', 'schemas', 'test/support', 'package.json', '.swcrc'];
const NAME = 'NextVersion1700000000099';

export interface NextVersion {
  root: string;
  remove(): void;
}

/** `statements`: of its migration; `oldestReader`: what it asks of programs, where it takes something away. */
export function nextVersion(statements: readonly string[], oldestReader?: number): NextVersion {
  const root = mkdtempSync(join(tmpdir(), 'millwright-next-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z', ...PARTS], { cwd: ROOT });
  for (const file of listed.toString().split('\0')) {
    if (file === '') continue;
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(ROOT, file), join(root, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...manifest, version: '99.0.0' }));
  writeFileSync(join(root, 'apps/server/store/migrations/0099-next-version.ts'), migration(statements, oldestReader));
  const list = join(root, 'apps/server/store/database/migrations.ts');
  const text = readFileSync(list, 'utf8');
  const added = text
    .replace('export const MIGRATIONS = [', `import { ${NAME} } from '../migrations/0099-next-version.ts';\n$&`)
    .replace(/(export const MIGRATIONS = \[[^\]]*)\]/, `$1  ${NAME},\n]`);
  if (!added.includes(`  ${NAME},`)) throw new Error('the list of migrations has another form');
  writeFileSync(list, added);
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

function migration(statements: readonly string[], oldestReader: number | undefined): string {
  const reader = oldestReader === undefined ? '' : `  static readonly oldestReader = ${oldestReader};\n`;
  const queries = statements.map((text) => `    await runner.query(${JSON.stringify(text)});\n`).join('');
  return (
    "import type { MigrationInterface, QueryRunner } from 'typeorm';\n" +
    `export class ${NAME} implements MigrationInterface {\n  readonly name = '${NAME}';\n${reader}` +
    `  async up(runner: QueryRunner): Promise<void> {\n${queries}  }\n  async down(): Promise<void> {}\n}\n`
  );
}
