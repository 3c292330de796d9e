/** The compose file, held against the schema of the compose specification. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { ROOT } from '../../../test/support/guide/documents.ts';

const TEXT = readFileSync(join(ROOT, 'apps/deploy/compose/compose.yaml'), 'utf8');

interface Compose {
  services: Record<string, { user?: string; read_only?: boolean; cap_drop?: string[]; environment?: object }>;
}

it('is what the compose specification says', () => {
  const { $schema: _, ...schema } = JSON.parse(
    readFileSync(join(process.env['DEPLOY_TOOLS'] ?? '', 'compose-spec.json'), 'utf8'),
  ) as { $schema?: string };
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  expect({ valid: validate(parse(TEXT)), errors: validate.errors }).toEqual({ valid: true, errors: null });
  const wrong = parse(TEXT) as Compose;
  Object.assign(wrong.services['millwright'] ?? {}, { restarts: 'always' });
  expect(validate(wrong)).toBe(false);
});

it('runs the service as nobody, on a file system that it cannot write, and holds no secret', () => {
  const { services } = parse(TEXT) as Compose;
  expect(services['millwright']).toMatchObject({ user: '10001:10001', read_only: true, cap_drop: ['ALL'] });
  expect(TEXT).not.toMatch(/PASSWORD: |DATABASE_URL: /);
});
