/**
 * What is wrong in a document, and the document without it: the rest is checked in the same pass, and nothing is told
 * that only follows from what is left out. contract §8.1.
 */
import { unescapeSegment, type SchemaError } from '#contracts';
import type { JsonValue } from '#filters';

/** A value of which anything may be left out. An entry of a list leaves its place, so that the others keep theirs. */
export type DeepPartial<Value> = Value extends readonly (infer Entry)[]
  ? (DeepPartial<Entry> | undefined)[]
  : Value extends object
    ? { [Key in keyof Value]?: DeepPartial<Value[Key]> }
    : Value;

/** Parts of a document that are wrong or missing, by JSON pointers. */
export class DocumentFaults {
  private readonly parts: ReadonlySet<string>;
  /** The same, with all that they are in. */
  private readonly affected: ReadonlySet<string>;

  /** `nearby`: parts that are not as they were meant because of the others. */
  constructor(parts: Iterable<string>, nearby: Iterable<string> = []) {
    this.parts = new Set(parts);
    const affected = new Set<string>();
    for (const part of [...this.parts, ...nearby])
      for (let end = part.length; end > 0 && !affected.has(part.slice(0, end)); end = part.lastIndexOf('/', end - 1))
        affected.add(part.slice(0, end));
    this.affected = affected;
  }

  /** Whether a part is wrong, by itself or with what it is in. */
  cover(pointer: string): boolean {
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1))
      if (this.parts.has(pointer.slice(0, end))) return true;
    return false;
  }

  /** Whether a part is wrong, or anything in it. */
  touch(pointer: string): boolean {
    return this.affected.has(pointer) || this.cover(pointer);
  }
}

export const NO_FAULTS = new DocumentFaults([]);

/** Entries of the longest list that a definition file may have. */
const ENTRIES_MAX = 100;

/**
 * The document without the smallest parts that are wrong: a key with its value, or an entry of a list. A list that has
 * too few or too many entries stays, for what they say is checked one by one.
 */
export function withoutFaults(value: JsonValue, errors: readonly SchemaError[]): JsonValue {
  const rest = structuredClone(value);
  for (const error of errors) {
    const { pointer } = error;
    const cut = pointer.lastIndexOf('/');
    const parent = memberAt(rest, pointer.slice(0, cut)) as JsonValue[] | Mapping | undefined;
    const segment = unescapeSegment(pointer.slice(cut + 1));
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, segment)) continue;
    const member = memberAt(rest, pointer);
    if (isListLength(error, member)) (member as JsonValue[]).splice(ENTRIES_MAX);
    else if (Array.isArray(parent)) (parent as unknown[])[Number(segment)] = undefined;
    else delete parent[segment];
  }
  return rest;
}

/** Whether the entries of a list are too few or too many, and it is no list in the wrong place. */
export function isListLength({ kind }: SchemaError, value: JsonValue | undefined): boolean {
  return kind === 'wrong-value' && Array.isArray(value);
}

type Mapping = { [key: string]: JsonValue };

/** The part of a document that stands at a JSON pointer. */
export function memberAt(root: JsonValue, pointer: string): JsonValue | undefined {
  let member: JsonValue | undefined = root;
  if (pointer === '') return root;
  for (const segment of pointer.slice(1).split('/').map(unescapeSegment)) {
    const isParent: boolean = typeof member === 'object' && member !== null && Object.hasOwn(member, segment);
    member = isParent ? (member as Mapping)[segment] : undefined;
  }
  return member;
}
