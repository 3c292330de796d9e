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
  generated.set('libs/contracts/generated/interface.json', await interfaceDocument(root));
  generated.set('libs/contracts/generated/request-bodies.ts', await requestBodies(root));
  return generated;
}

/** Type of each request body by its component, as the operations name them. */
async function requestBodies(root: string): Promise<string> {
  const groups = await Promise.all(
    (await readdir(join(root, 'schemas/operations'))).map(
      async (file) =>
        JSON.parse(await readFile(join(root, 'schemas/operations', file), 'utf8')) as {
          operations: { body?: string }[];
        },
    ),
  );
  const bodies = groups.flatMap(({ operations }) => operations.flatMap(({ body }) => body ?? []));
  const types = await Promise.all(
    [...new Set(bodies)].sort().map(async (body) => {
      const schema = await readFile(join(root, `schemas/api/${body}.schema.json`), 'utf8');
      return { body, type: (JSON.parse(schema) as { title: string }).title };
    }),
  );
  const imports = types.map(({ body, type }) => `import type { ${type} } from './api/${body}.ts';\n`);
  const members = types.map(({ body, type }) => `  '${body}': ${type};\n`);
  return [
    `${BANNER}\n`,
    ...imports,
    '\n/** Body of a request by its component, `schemas/api/<component>.schema.json`. */\n',
    'export interface RequestBodies {\n',
    ...members,
    '}\n',
  ].join('');
}

/**
 * Every component by its file name, and every group of operations: one module to load instead of a hundred, a line
 * each.
 */
async function interfaceDocument(root: string): Promise<string> {
  const schemas = (await readdir(join(root, 'schemas/api'))).filter((file) => file.endsWith('.schema.json')).sort();
  const groups = (await readdir(join(root, 'schemas/operations'))).filter((file) => file.endsWith('.json')).sort();
  const contentOf = async (path: string): Promise<string> =>
    JSON.stringify(JSON.parse(await readFile(join(root, 'schemas', path), 'utf8')));
  const named = await Promise.all(
    schemas.map(async (file) => `${JSON.stringify(file)}: ${await contentOf(`api/${file}`)}`),
  );
  const operations = await Promise.all(groups.map((file) => contentOf(`operations/${file}`)));
  return `{\n"schemas": {\n${named.join(',\n')}\n},\n"operations": [\n${operations.join(',\n')}\n]\n}\n`;
}

async function schemaFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries
    .filter((entry) => entry.endsWith('.schema.json'))
    .sort()
    .map((entry) => join(folder, entry));
}

async function typesOf(root: string, file: string): Promise<string> {
  const schema = JSON.parse(await readFile(file, 'utf8')) as Parameters<typeof compile>[0];
  return compile(schema, file, {
    cwd: join(root, 'schemas', relative(join(root, 'schemas'), join(file, '..')), '/'),
    bannerComment: BANNER,
    additionalProperties: true,
    ignoreMinAndMaxItems: true, // a list of at most twenty would be a type of twenty-one tuples
    unreachableDefinitions: false,
    style: { singleQuote: true, printWidth: 140 },
  });
}
