/** The words of the sources: exports and files are named by the field's terms, and each name means one thing. */
import { basename } from 'node:path';
import { codeOf, exportedNames, innerNames, sourcesOf, type ExportedName } from './support/structure/house.ts';

/** Refusals whose reason is data, by file: a time to wait, positions in a text, the end of a process or of a pass. */
const REASON_IS_DATA: readonly string[] = [
  'apps/server/execution/local/environment-setup.ts: { ok: false; ended: CommandEnd }',
  'libs/deliveries/addresses.ts: { ok: false; badPositions: number[] }',
  'libs/deliveries/slots.ts: { ok: false; waitMs: number; retryAfterSeconds: number }',
  'libs/deliveries/windows.ts: { ok: false; waitMs: number; retryAfterSeconds: number }',
  'libs/reconcile/revisions/rewrites.ts: { ok: false; from: string; ending: PassEnding }',
];

/** Words that name nothing in this field, with what a reader would search for instead. `prefix`: in every form. */
const BANNED_WORDS: readonly { word: string; prefix: boolean; instead: string }[] = [
  { word: 'surrounding', prefix: true, instead: '…Deps' },
  { word: 'ground', prefix: false, instead: 'input, environment, …Options' },
  { word: 'looks', prefix: false, instead: 'poll, check, request' },
  { word: 'told', prefix: false, instead: 'reported, published, status' },
  { word: 'standing', prefix: false, instead: 'state, status' },
  { word: 'kept', prefix: false, instead: 'stored, retained, …Max' },
  { word: 'taken', prefix: false, instead: 'acquired, used, result' },
  { word: 'outfit', prefix: true, instead: 'spec' },
  { word: 'wish', prefix: true, instead: '…Options, …Request' },
  { word: 'beside', prefix: true, instead: 'other, hook' },
  { word: 'specimen', prefix: true, instead: 'sample' },
  { word: 'patient', prefix: true, instead: 'target, retry, timeout' },
  { word: 'chore', prefix: true, instead: 'job' },
  { word: 'turns', prefix: false, instead: 'semaphore, admission' },
  { word: 'settle', prefix: true, instead: 'commit, finish, close' },
  { word: 'settling', prefix: false, instead: 'committing' },
  { word: 'walk', prefix: true, instead: 'visit, traverse, context' },
];

/** Inner names that stay: turns of the agent protocol, and members that are stored under their name. */
const INNER_TERMS: ReadonlySet<string> = new Set(['turns', 'turnsIn', 'turnsBefore', 'told', 'isTold']);

/** Names that two places export on purpose, with the reason. */
const SHARED_NAMES: Readonly<Record<string, string>> = {};

/** Files whose whole name is the word that feature files carry behind their feature. */
const NOT_OF_A_FEATURE: Readonly<Record<string, string>> = {
  'apps/server/http/requests.ts': 'what is known of any one request',
};

/** Programs and libraries; the published clients are named by the API document. */
const SERVICE = ['apps/server', 'libs'];
const NAMED = [...SERVICE, 'apps/agent', 'apps/cli', 'apps/dashboard/src', 'test/support', 'test/bench'];

const isOurs = (file: string): boolean => !/^libs\/client-|(^|\/)generated(\/|\.ts$)/.test(file);
const filesOf = (places: readonly string[]): string[] => places.flatMap((place) => sourcesOf(place)).filter(isOurs);
const namesOf = (places: readonly string[]): ExportedName[] =>
  places.flatMap(exportedNames).filter(({ file }) => isOurs(file));

/** `useKeptPlace`, `use-kept-place` and `KEPT_MAX` as lower-case words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

function bannedIn(name: string): string | undefined {
  const found = BANNED_WORDS.find(({ word, prefix }) =>
    wordsOf(name).some((part) => (prefix ? part.startsWith(word) : part === word)),
  );
  return found === undefined ? undefined : `"${found.word}" in ${name}: say ${found.instead}`;
}

describe('exported names', () => {
  it('have no banned words', () => {
    const found = namesOf(NAMED).flatMap(({ name, file }) => {
      const text = bannedIn(name);
      return text === undefined ? [] : [`${file}: ${text}`];
    });
    expect(found).toEqual([]);
  });

  it('are unique within the server and the libraries', () => {
    const files = new Map<string, Set<string>>();
    for (const { name, file } of namesOf(SERVICE)) files.set(name, (files.get(name) ?? new Set()).add(file));
    const found = [...files]
      .filter(([name, places]) => places.size > 1 && !(name in SHARED_NAMES))
      .map(([name, places]) => `${name}: ${[...places].join(', ')}`);
    expect(found).toEqual([]);
  });

  it('say Deps or Options for what a constructor or a factory function receives', () => {
    const found = namesOf(NAMED)
      .filter(({ name, kind }) => /^(type|interface|class)$/.test(kind) && ARGUMENTS.test(name))
      .map(({ name, file }) => `${file}: ${name}`);
    expect(found).toEqual([]);
  });

  it('end in Error where a class extends Error', () => {
    const found = errorClasses(filesOf(NAMED))
      .filter(({ name, isExported }) => isExported && !name.endsWith('Error'))
      .map(({ name, file }) => `${file}: ${name}`);
    expect(found).toEqual([]);
  });
});

const ARGUMENTS = /(Parts|Surroundings|Ground|Means|Sources)$/;

/** Classes that extend Error, directly or by a class of ours. */
function errorClasses(files: readonly string[]): { name: string; file: string; isExported: boolean }[] {
  const classes = files.flatMap((file) =>
    [...codeOf(file).matchAll(/^(export )?(?:default )?(?:abstract )?class (\w+)(?:<[^{]*?>)? extends (\w+)/gm)].map(
      ([, exported, name = '', parent = '']) => ({ name, parent, file, isExported: exported !== undefined }),
    ),
  );
  const errors = new Set(['Error', 'RangeError', 'SyntaxError', 'TypeError']);
  for (let before = 0; before !== errors.size;) {
    before = errors.size;
    for (const { name, parent } of classes) if (errors.has(parent)) errors.add(name);
  }
  return classes.filter(({ parent }) => errors.has(parent));
}

describe('members, and names that a file keeps for itself', () => {
  it('have no banned words', () => {
    const found = [...SERVICE, 'apps/agent', 'apps/cli', 'test/support']
      .flatMap(innerNames)
      // columns of tables and members of the wire are stored or sent
      .filter(({ name, file }) => isOurs(file) && !name.includes('_') && !INNER_TERMS.has(name))
      .flatMap(({ name, file }) => {
        const text = bannedIn(name);
        return text === undefined ? [] : [`${file}: ${text}`];
      });
    expect([...new Set(found)]).toEqual([]);
  });
});

describe('refusals', () => {
  it('say their reason, or carry the problems of what was read, or can have one cause only', () => {
    const found = filesOf(SERVICE).flatMap((file) =>
      [...codeOf(file).matchAll(/\{\s*(?:readonly )?ok: false;([^{}]*)\}/g)]
        .filter(([, members = '']) => members.trim() !== '' && !/\b(reason|problems?|errors)\b/.test(members))
        .map(([whole]) => `${file}: ${whole.replace(/\s+/g, ' ')}`),
    );
    expect(found.sort()).toEqual([...REASON_IS_DATA].sort());
  });
});

describe('files', () => {
  it('have no banned words in their names', () => {
    const found = filesOf(NAMED).flatMap((file) => {
      const text = bannedIn(basename(file).replace(/\.tsx?$/, ''));
      return text === undefined ? [] : [`${file}: ${text}`];
    });
    expect(found).toEqual([]);
  });

  it('of a feature carry their feature', () => {
    const bare = filesOf(['apps/server']).filter((file) =>
      /^(controller|service|module|items|requests)\.ts$/.test(basename(file)),
    );
    expect(bare.filter((file) => !(file in NOT_OF_A_FEATURE))).toEqual([]);
  });
});
