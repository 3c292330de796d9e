/** The next version of the built program: a copy of it with one more migration, which adds. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../sync/sync-stage.ts';

const NAME = 'NextVersion1700000000099';
const MIGRATION = `export class ${NAME} {
  name = '${NAME}';
  async up(runner) {
    await runner.query("ALTER TABLE delivery ADD COLUMN next_flag TEXT NOT NULL DEFAULT 'x'");
    await runner.query('CREATE TABLE next_table (id BIGINT PRIMARY KEY)');
  }
  async down() {}
}
`;

/** Its command; `remove` it in the end. */
export interface NextBuild {
  command: string;
  remove(): void;
}

/**
 * Copies what git knows of the packages' descriptions, and what was built. Throws where the list of migrations is not
 * as it was.
 */
export function nextBuild(): NextBuild {
  const root = mkdtempSync(join(tmpdir(), 'millwright-next-'));
  for (const part of ['dist/apps', 'dist/libs', 'dist/schemas', 'dist/dashboard', ...described()]) {
    mkdirSync(dirname(join(root, part)), { recursive: true });
    cpSync(join(ROOT, part), join(root, part), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'dist/apps/server/store/migrations/0099-next-version.js'), MIGRATION);
  const list = join(root, 'dist/apps/server/store/database/migrations.js');
  const added = readFileSync(list, 'utf8').replace(
    /export const MIGRATIONS = \[([^\]]*?),?\s*\]/,
    `import { ${NAME} } from '../migrations/0099-next-version.js';\nexport const MIGRATIONS = [$1, ${NAME}]`,
  );
  if (!added.includes(`, ${NAME}]`)) throw new Error('the list of migrations has another form');
  writeFileSync(list, added);
  return {
    command: join(root, 'apps/cli/millwright.mjs'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** What lies beside the build and is read by it. */
function described(): string[] {
  const parts = ['package.json', 'apps/cli', 'examples', 'schemas', 'libs/definitions'];
  const listed = execFileSync('git', ['ls-files', '-z', ...parts], { cwd: ROOT }).toString();
  return listed.split('\0').filter((file) => file !== '' && !file.endsWith('.ts'));
}
