/**
 * What can be written at a place of a definition file: keys, operators, values, and names that other files declare.
 * contract §11.11.
 */
import { isMap, isScalar } from 'yaml';
import { keysOf, nodeAt, schemasAt, type Schema } from './schema-places.ts';
import { schemaNameOf, valuesOf } from './key-texts.ts';
import { typedPlaceAt, type TypedPlace, type Way } from './yaml-places.ts';

/** Names that the files of a factory declare or use. */
export interface DeclaredNames {
  webhooks: readonly string[];
  environments: readonly string[];
  skills: readonly string[];
  secrets: readonly string[];
  models: readonly string[];
  harnesses: readonly string[];
  /** IDs of the rules of trust, which a file may accept. */
  trustRules: readonly string[];
}

export interface Completion {
  word: string;
  kind: 'key' | 'value' | 'name';
  description?: string;
  /** What is written: a key with its colon. */
  text: string;
  /** Offsets of what it replaces. */
  start: number;
  end: number;
}

/** What declares the names that may stand at a way, by the end of it. */
const NAMED_BY: readonly [RegExp, keyof DeclaredNames][] = [
  [/^\/triggers\/\d+\/filter\/webhooks\/\d+$/, 'webhooks'],
  [/\/environmentId$/, 'environments'],
  [/\/skill$/, 'skills'],
  [/(?:\/secretName|\/credentialSecret|\/secrets\/\d+\/name)$/, 'secrets'],
  [/(?:\/model|\/harness\/modelId)$/, 'models'],
  [/\/harness\/type$/, 'harnesses'],
  [/\/trust\/\d+\/accept$/, 'trustRules'],
];

/** What can stand at an offset, in the order of the schema; none in prose, comments and other files. Never throws. */
export function completionsAt(path: string, text: string, offset: number, names: DeclaredNames): Completion[] {
  const name = schemaNameOf(path);
  const place = name === undefined ? undefined : typedPlaceAt(path, text, offset);
  if (name === undefined || place === undefined) return [];
  const { way, isKey, isOwnLine, root } = place;
  // A word on a line of its own is a key, or what its parent takes: the first lines of a list or a mapping
  const parent = way.slice(0, -1);
  const keys = isKey ? keyCompletions(schemasAt(name, root, parent), place, parent) : [];
  if (isKey && (keys.length > 0 || !isOwnLine)) return keys;
  const at = isKey ? parent : way;
  return valueCompletions(schemasAt(name, root, at), at, names).map((found) => replacing(found, place));
}

type Found = Pick<Completion, 'word' | 'kind' | 'description' | 'text'>;

function keyCompletions(schemas: readonly Schema[], place: TypedPlace, parent: Way): Completion[] {
  const mapping = nodeAt(place.root, parent);
  const there = new Set(isMap(mapping) ? mapping.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : []);
  return [...keysOf(schemas)]
    .filter(([key]) => !there.has(key))
    .map(([key, { description }]) => replacing({ word: key, kind: 'key', description, text: `${key}: ` }, place));
}

function valueCompletions(schemas: readonly Schema[], way: Way, names: DeclaredNames): Found[] {
  const pointer = way.map((step) => `/${step}`).join('');
  const declared = NAMED_BY.find(([pattern]) => pattern.test(pointer))?.[1];
  return [
    ...valuesOf(schemas).map((word): Found => ({ word, kind: 'value', text: word })),
    ...(declared === undefined ? [] : names[declared].map((word): Found => ({ word, kind: 'name', text: word }))),
  ];
}

function replacing(found: Found, { start, end }: TypedPlace): Completion {
  return { ...found, start, end };
}
