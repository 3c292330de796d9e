/** A request body is stated once, by its schema: validator, type and document of every operation come from it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPERATIONS, openApiDocument } from '#contracts';

const SERVER = fileURLToPath(new URL('../apps/server', import.meta.url));
const CONTROLLERS = readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.controller.ts'))
  .map((path) => ({ path, code: readFileSync(join(SERVER, path), 'utf8').replaceAll(/\s+/g, ' ') }));

/** Read raw, because a proof covers its bytes. */
const RAW_BODIES = ['push-notice'];

const bodies = OPERATIONS.flatMap(({ operations }) => operations.flatMap(({ body }) => body ?? []));

describe('a body that an operation describes', () => {
  it.each([...new Set(bodies)].filter((body) => !RAW_BODIES.includes(body)))(
    '%s is checked by its schema, and has the type that is generated of it',
    (body) => {
      const found = CONTROLLERS.flatMap(({ path, code }) =>
        [
          ...code.matchAll(/@Body\(\{ schema: bodySchema\('([\w-]+)'[^)]*\),? \}\) (?:\{[^}]*\}|\w+): ([^,)]+)/g),
        ].flatMap(([, schema, type]) => (schema === body ? [{ path, type }] : [])),
      );
      expect(found.length).toBeGreaterThan(0);
      expect(found.map(({ type }) => type)).toEqual(found.map(() => `RequestBody<'${body}'>`));
    },
  );

  it('is documented by the same schema', () => {
    const components = (openApiDocument('') as { components: { schemas: Record<string, unknown> } }).components.schemas;
    const titles = bodies.map((body) => {
      const schema = readFileSync(join(SERVER, '../../schemas/api', `${body}.schema.json`), 'utf8');
      return (JSON.parse(schema) as { title: string }).title;
    });
    expect(titles.filter((title) => !Object.hasOwn(components, title))).toEqual([]);
  });
});

describe('a controller', () => {
  it.each(CONTROLLERS.filter(({ code }) => code.includes('@Body(')).map(({ path }) => path))(
    '%s takes no body but by a schema',
    (path) => {
      const { code } = CONTROLLERS.find((controller) => controller.path === path) ?? { code: '' };
      const taken = code.match(/@Body\(.{0,25}/g) ?? [];
      expect(taken.filter((text) => !text.startsWith('@Body({ schema: bodySchema('))).toEqual([]);
    },
  );
});

it('what checks bodies knows no feature: rules of one are registered where the feature is', () => {
  expect(readFileSync(join(SERVER, 'http/body-schemas.ts'), 'utf8')).not.toContain("from '../");
});
