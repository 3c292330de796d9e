/** Comments cite documents that are in the repository: each section, heading and word in brackets is there. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, pageText, ROOT } from './support/guide/documents.ts';

const FOLDERS = ['apps', 'libs', 'test'];
const SOURCE = /\.(ts|tsx|mjs|js|sh|py)$/;
const NOT_OURS = /(^|\/)(node_modules|dist|generated|\.venv[^/]*)\//;

/** A document's sections: what a citation may name, and the text that its words in brackets are looked for in. */
type Sections = ReadonlyMap<string, string>;

/** `§5` with all that is below it, and `§5.8`. */
const CONTRACT = sectionsOf(pageText('contract.md'), (title) => /^§[\d.]+/.exec(title)?.[0]);
const SPECIFICATION = sectionsOf(pageText('specification.md'), nameOf);
const EXPLANATION: Sections = new Map(
  PAGES.filter(({ path }) => path.startsWith('apps/guide/explanation/')).flatMap(({ text }) => [
    ...sectionsOf(text, nameOf),
  ]),
);

const ITEM = String.raw`§\d+(?:\.\d+)?(?: \([^()]*\))?`;
const CONTRACT_CITATION = new RegExp(String.raw`\bcontract (${ITEM}(?:(?:, | and )${ITEM})*)`, 'gi');
/** Names end with a full stop or a semicolon; a file has its ending. */
const named = (kind: string) => new RegExp(String.raw`\b${kind}: ((?=[A-Z])(?:[^.;*]|\.json\b)+)`, 'g');
const SPECIFICATION_CITATION = named('spec');
const EXPLANATION_CITATION = named('explanation');

/** What citations looked like when the documents were elsewhere. */
const FORMER = /\bcontract \d|\breference: (?:Engine|GitOps|CI output|Running|I\d)|\bgitops-semantics\b/i;

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => SOURCE.test(path) && !NOT_OURS.test(path) && !path.endsWith('test/citations.spec.ts')),
).map((path) => ({ path, text: joined(readFileSync(join(ROOT, path), 'utf8')) }));

it('citations are found at all', () => {
  const count = files.reduce((sum, { text }) => sum + [...text.matchAll(CONTRACT_CITATION)].length, 0);
  expect(count).toBeGreaterThan(500);
});

it('every citation of the contract names a section, and words that occur in it', () => {
  expect(
    files.flatMap(({ path, text }) =>
      [...text.matchAll(CONTRACT_CITATION)]
        .flatMap(([, items = '']) => splitAtCommas(items.replaceAll(' and ', ', ')))
        .filter((item) => !isIn(CONTRACT, item))
        .map((item) => `${path}: contract ${item}`),
    ),
  ).toEqual([]);
});

it.each([
  ['specification', SPECIFICATION_CITATION, SPECIFICATION],
  ['explanation', EXPLANATION_CITATION, EXPLANATION],
])('every citation of the %s names a heading, and words that occur below it', (_name, citation, sections) => {
  expect(
    files.flatMap(({ path, text }) =>
      commentsOf(text)
        .flatMap((comment) => [...comment.matchAll(citation)])
        .flatMap(([, items = '']) => splitAtCommas(items))
        .filter((item) => !isIn(sections, withoutNumber(item)))
        .map((item) => `${path}: ${item}`),
    ),
  ).toEqual([]);
});

it('no citation leads out of the repository', () => {
  expect(
    files.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line) => (FORMER.test(line) ? [`${path}: ${line}`] : [])),
    ),
  ).toEqual([]);
});

/** Lines of a comment as one line, however they were wrapped. */
function joined(text: string): string {
  return text.replaceAll(/[ \t]*\n[ \t]*(?:\*(?!\/)|\/\/|#)[ \t]*/g, ' ');
}

function commentsOf(text: string): string[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<![:/\w'"`])\/\/.*/g)].map(([comment]) => comment);
}

/** At commas outside of brackets. */
function splitAtCommas(items: string): string[] {
  return items
    .split(/,\s*(?![^()]*\))/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** `Authentication rule 3` and `What the service does 5–6` name a heading and points below it. */
function withoutNumber(item: string): string {
  return item.replace(/ (?:rule )?\d+(?:–\d+)?$/, '');
}

/** The whole heading, or its words before the bracket with words in brackets that occur below it. */
function isIn(sections: Sections, item: string): boolean {
  if (sections.has(plain(item))) return true;
  const [, name = item, words] = /^(.*?)(?: \((.*)\))?$/.exec(item) ?? [];
  const text = sections.get(plain(name));
  if (text === undefined) return false;
  return (words ?? '').split(', ').every((part) => occursIn(text, plain(part)));
}

/** `steps 4 to 6` are points of a list. */
function occursIn(text: string, words: string): boolean {
  const steps = /^steps? (\d)(?: to (\d))?$/.exec(words);
  if (steps) return steps.slice(1).every((step) => step === undefined || text.includes(`\n${step}. `));
  return text.includes(words) || plain(text).includes(words);
}

/** Sections by the name that a heading has; the text of each reaches to the next heading that is not below it. */
function sectionsOf(page: string, name: (title: string) => string | undefined): Map<string, string> {
  const headings = [...page.matchAll(/^(#+) (.+)$/gm)];
  const sections = new Map<string, string>();
  for (const [index, heading] of headings.entries()) {
    const [, marks = '', title = ''] = heading;
    const next = headings.slice(index + 1).find(([, others = '']) => others.length <= marks.length);
    const text = page.slice(heading.index, next?.index).toLowerCase();
    for (const key of [title, name(title)]) if (key !== undefined) sections.set(plain(key), text);
  }
  return sections;
}

/** A heading without its bracket. */
function nameOf(title: string): string {
  return title.replace(/ \(.*\)$/, '');
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ').trim();
}
