/** One more kind of source is one more row: nothing else of the service knows any kind by its name. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FactorySource as SourceItem } from '#contracts';
import type { Factory } from '../../store/factories/factory-rows.ts';
import { sourceRegistry, SOURCES } from './registry.ts';
import type { SourceDeps, SourceKind } from './source.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** Where kinds are at home: their rows, the argument of the command line, and the page's rows. */
const AT_HOME = [
  'apps/server/sync/sources/',
  'libs/reconcile/sources.ts',
  'apps/dashboard/src/api/source-kinds.ts',
  'apps/cli/verbs/factories/factory-source.ts',
];

const KINDS = ['git', 'directory', 'dashboard'];

/** A comparison with the name of a kind, or a case of one. */
const COMPARISON = new RegExp(`kind\\??\\s*[!=]==?\\s*'(${KINDS.join('|')})'|case '(${KINDS.join('|')})':`);

type Bucket = { kind: 'bucket'; bucket: string };

/** A kind that is not there: a tree of files in an object store. */
function bucketKind(forgotten: string[]): SourceKind<Bucket> {
  return {
    kind: 'bucket',
    hasCommits: false,
    isLocal: false,
    isNamedByFiles: true,
    requestErrors: ({ bucket }) =>
      bucket === 'orders' ? [] : [{ pointer: '/source/bucket', message: 'is no bucket that there is' }],
    toStored: () => ({ kind: 'bucket', bucket: 'orders' }),
    toItem: ({ bucket }) => ({ kind: 'bucket', bucket }) as unknown as SourceItem,
    repositoryOf: () => undefined,
    opener: () => (stored, factory) => ({
      snapshot: () =>
        Promise.resolve({ ok: true, unchanged: true, revision: `${stored.bucket} of ${factory.slug}` } as const),
      close: () => Promise.resolve(),
    }),
    forget: (dataDir, uid) => Promise.resolve(void forgotten.push(`${dataDir}/${uid}`)),
  };
}

describe('a kind that is registered and nothing else', () => {
  const forgotten: string[] = [];
  const sources = sourceRegistry([bucketKind(forgotten)] as unknown as SourceKind[]);
  const stored = { kind: 'bucket', bucket: 'orders' };

  it('is checked and stored by its own rules', () => {
    expect(sources.requestErrors({ kind: 'bucket', bucket: 'other' })).toEqual([
      { pointer: '/source/bucket', message: 'is no bucket that there is' },
    ]);
    expect(sources.requestErrors({ kind: 'bucket', bucket: 'orders' })).toEqual([]);
    expect(sources.kindOf(stored).toStored({ kind: 'bucket' } as unknown as SourceItem)).toEqual(stored);
  });

  it('is shown, says what it can do, and is no repository', () => {
    expect(sources.toItem(stored)).toEqual(stored);
    expect(sources.kindOf(stored)).toMatchObject({ hasCommits: false, isLocal: false, isNamedByFiles: true });
    expect(sources.repositoryOf(stored)).toBeUndefined();
  });

  it('is opened and forgotten', async () => {
    const open = sources.opener({} as SourceDeps);
    const source = open({ source: stored, slug: 'main' } as unknown as Factory, false);
    const snapshot = await source.snapshot({}, new AbortController().signal);
    expect(snapshot).toMatchObject({ ok: true, revision: 'orders of main' });
    await sources.forget('/data', 'fac_1');
    expect(forgotten).toEqual(['/data/fac_1']);
  });
});

describe('the kinds that there are', () => {
  it('are the ones that the API describes', () => {
    const schema = JSON.parse(readFileSync(join(ROOT, 'schemas/api/factory-source.schema.json'), 'utf8')) as {
      properties: { kind: { enum: string[] } };
    };
    expect(schema.properties.kind.enum).toEqual(KINDS);
    expect(KINDS.map((kind) => SOURCES.kindOf({ kind }).kind)).toEqual(KINDS);
  });

  it('are compared by name at home only', () => {
    const files = ['apps/server', 'apps/cli', 'apps/dashboard/src', 'libs'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.tsx?$/.test(path) && !/\.spec\.tsx?$|node_modules|client-|generated/.test(path))
        .map((path) => join(folder, path)),
    );
    expect(files.length).toBeGreaterThan(500);
    const elsewhere = files
      .filter((path) => !AT_HOME.some((home) => path.startsWith(home)))
      .flatMap((path) =>
        readFileSync(join(ROOT, path), 'utf8')
          .split('\n')
          .flatMap((line, index) => (COMPARISON.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
      );
    expect(elsewhere).toEqual([]);
  });

  it('one that is not known is refused', () => {
    expect(() => SOURCES.kindOf({ kind: 'svn' })).toThrow('svn');
    // The schema says what is wrong with the kind; what is wrong with the other members is told beside it.
    expect(SOURCES.requestErrors({ kind: 'svn', url: 'nothing', path: '/etc' })).toMatchObject([
      { pointer: '/source/url' },
    ]);
  });
});
