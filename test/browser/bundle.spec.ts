/** What a browser fetches before the first page shows: bounded, and with nothing of what only some pages need. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

interface Chunk {
  file: string;
  css?: string[];
  /** Chunks that are loaded with it, by their names here. */
  imports?: string[];
}

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '../../dist/dashboard');
const FIRST_PAGE_BYTES_MAX = 350 * 1_024;
/** The frame, and the page that it shows after the sign-in. */
const FIRST_PAGE = ['index.html', 'src/pages/factories/list.tsx'];

const read = (file: string): string => readFileSync(join(BUILT, file), 'utf8');

/** Files of these chunks and of all that are loaded with them; what is loaded by a call is not. */
function filesOf(names: readonly string[]): Set<string> {
  const manifest = JSON.parse(read('manifest.json')) as Record<string, Chunk>;
  const files = new Set<string>();
  const follow = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`the build has no ${name}`);
    if (files.has(chunk.file)) return;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const imported of chunk.imports ?? []) follow(imported);
  };
  for (const name of names) follow(name);
  return files;
}

describe('the built page', () => {
  it(`costs at most ${FIRST_PAGE_BYTES_MAX / 1_024} KiB compressed until the list of factories shows`, () => {
    const bytes = ['index.html', ...filesOf(FIRST_PAGE)].reduce((sum, file) => sum + gzipSync(read(file)).length, 0);
    expect(bytes).toBeGreaterThan(100 * 1_024); // else it is not what a browser needs
    expect(bytes).toBeLessThanOrEqual(FIRST_PAGE_BYTES_MAX);
  });

  it('brings neither editor nor charts before somebody looks at them', () => {
    const texts = [...filesOf(FIRST_PAGE)].filter((file) => file.endsWith('.js')).map(read);
    for (const mark of ['cm-editor', 'recharts']) expect(texts.filter((text) => text.includes(mark))).toEqual([]);
  });

  it('loads nothing from elsewhere', () => {
    for (const file of ['index.html', ...filesOf(FIRST_PAGE)]) {
      const addresses = [...read(file).matchAll(/(?:src=|href=|url\(|import\()\s*["']?(https?:\/\/[^"')\s]+)/g)].map(
        ([, address]) => address,
      );
      expect({ file, addresses }).toEqual({ file, addresses: [] });
    }
  });
});
