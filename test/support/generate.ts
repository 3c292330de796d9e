/** How the generated files of the repository are made; each is a function of the committed sources. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { compile } from 'json-schema-to-typescript';

const BANNER = '/** Generated from schemas/ by test/support/generate.ts; do not edit. */';

/** TypeScript types of every schema: repository path of the generated file → its text. */
export async function generateTypes(root: string): Promise<Map<string, string>> {
  const generated = new Map<string, string>();
  for (const file of await schemaFiles(join(root, 'schemas'))) {
    const name = relative(join(root, 'schemas'), file).replace(/\.schema\.json$/, '');
    generated.set(`libs/contracts/generated/${name}.ts`, await typesOf(root, file));
  }
  generated.set('libs/contracts/generated/registry.ts', await registry(root));
  return generated;
}

/** Every component and every group of operations under its file name; JSON is imported by name only, so that a build holds it. */
async function registry(root: string): Promise<string> {
  const schemas = (await readdir(join(root, 'schemas/api'))).filter((file) => file.endsWith('.schema.json')).sort();
  const groups = (await readdir(join(root, 'schemas/operations'))).filter((file) => file.endsWith('.json')).sort();
  const imported = [...schemas.map((file) => `api/${file}`), ...groups.map((file) => `operations/${file}`)];
  return [
    BANNER,
    ...imported.map((file) => `import ${identifierOf(file)} from '../../../schemas/${file}' with { type: 'json' };`),
    '',
    '/** Components of the HTTP interface by file name. */',
    'export const API_SCHEMAS: Readonly<Record<string, object>> = {',
    ...schemas.map((file) => `  '${file}': ${identifierOf(`api/${file}`)},`),
    '};',
    '',
    'export const OPERATION_GROUPS: readonly unknown[] = [',
    ...groups.map((file) => `  ${identifierOf(`operations/${file}`)},`),
    '];',
    '',
  ].join('\n');
}

function identifierOf(file: string): string {
  return file.replace(/(\.schema)?\.json$/, '').replace(/[^a-z]+([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

async function schemaFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries.filter((entry) => entry.endsWith('.schema.json')).sort().map((entry) => join(folder, entry));
}

async function typesOf(root: string, file: string): Promise<string> {
  const schema = JSON.parse(await readFile(file, 'utf8')) as Parameters<typeof compile>[0];
  return compile(schema, file, {
    cwd: join(root, 'schemas', relative(join(root, 'schemas'), join(file, '..')), '/'),
    bannerComment: BANNER,
    additionalProperties: true,
    unreachableDefinitions: false,
    style: { singleQuote: true, printWidth: 140 },
  });
}
