/** Generated files are what their sources say: regenerated here and compared. `UPDATE_GENERATED=1` writes them. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { clientModels, clientShapes } from './support/client-files.ts';
import { referencePages } from './support/guide/guide-reference.ts';
import { generateTypes } from './support/generate.ts';
import { schemeTexts } from './support/guide/scheme-texts.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

describe('generated files', () => {
  // First of all: some of these files are sources of others.
  it('what names the signature schemes matches their entries', async () => {
    for (const [path, text] of await schemeTexts(root)) {
      if (process.env['UPDATE_GENERATED'] === '1') await write(join(root, path), text);
      expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
    }
  });

  it('types under libs/contracts/generated match schemas/', async () => {
    for (const [path, text] of await generateTypes(root)) {
      if (process.env['UPDATE_GENERATED'] === '1') await write(join(root, path), text);
      expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
    }
  });

  it('the API document matches schemas/', async () => {
    // Loaded after the files above have been written.
    const { openApiDocument } = await import('#contracts');
    const path = 'schemas/generated/openapi.json';
    const text = `${JSON.stringify(openApiDocument(''), null, 2)}\n`;
    if (process.env['UPDATE_GENERATED'] === '1') await write(join(root, path), text);
    expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
  });

  it('types of the TypeScript client, which the web page uses too, match the API document', async () => {
    const path = 'libs/client-typescript/src/generated.ts';
    const { stdout: text } = await promisify(execFile)(
      process.execPath,
      [
        join(root, 'apps/dashboard/node_modules/openapi-typescript/bin/cli.js'),
        join(root, 'schemas/generated/openapi.json'),
        '--default-non-nullable=false',
      ],
      { maxBuffer: 16 * 1_048_576 },
    );
    if (process.env['UPDATE_GENERATED'] === '1') await write(join(root, path), text);
    expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
  });

  it.each([
    ['libs/client-typescript/src/shapes.generated.ts', clientShapes],
    ['libs/client-typescript/src/models.ts', clientModels],
  ])('%s of the TypeScript client matches the API document', async (path, generate) => {
    const text = generate(await readFile(join(root, 'schemas/generated/openapi.json'), 'utf8'));
    if (process.env['UPDATE_GENERATED'] === '1') await write(join(root, path), text);
    expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
  });
});

describe('reference pages of the guide', () => {
  it('say what the code says', async () => {
    const pages = await referencePages(root);
    for (const [path, text] of pages) {
      if (process.env['UPDATE_GENERATED'] === '1') await write(join(root, path), text);
      expect({ path, text: await readFile(join(root, path), 'utf8') }).toEqual({ path, text });
    }
    expect(pages.size).toBeGreaterThan(0);
  });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
