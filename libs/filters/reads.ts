/**
 * How often a filter can look into a payload at most, told from the filter alone: what its evaluation in steps counts,
 * for the worst payload of so many bytes. contract §7.3 (looks).
 */
import type { Field, FieldTest, NestedTest } from './evaluate.ts';

/** What a filter costs at most: looks for each byte of the payload, and beside that. */
export interface ReadsBound {
  perByte: number;
  fixed: number;
}

/** Bytes of `{},` and of `"":1`: the least that an element takes, and a member beside its name. */
const ELEMENT_BYTES = 3;
const MEMBER_BYTES = 4;
/** Bytes of `"":{}`: of a member that is entered. */
const ENTERED_BYTES = 5;
/** Looks for a test of a member that is entered. */
const ENTERED_READS = 2;
/** Looks for each byte of `1,1,1`: an array of values is looked through once for each list. */
const READS_OF_VALUES = 1 / 2;

/** The bound of what `failureInSteps` counts. */
export function readsBound(root: NestedTest): ReadsBound {
  return { perByte: perByteOf(root), fixed: 1 + ENTERED_READS + fixedOf(root) };
}

/** The most that a payload of so many bytes can cost. */
export function readsWithin({ perByte, fixed }: ReadsBound, payloadBytes: number): number {
  return Math.ceil(perByte * payloadBytes) + fixed;
}

function perByteOf(test: FieldTest): number {
  if (test.operator === 'exists') return 0;
  if (test.operator !== 'nested') return READS_OF_VALUES;
  return Math.max(
    READS_OF_VALUES,
    perByteOfElements(test.fields),
    ...test.fields.map(({ tests }) => sumOf(tests, perByteOf)),
  );
}

/**
 * Of an array of objects that get as far in the fields as they can with as few bytes as they can. Behind a field is who
 * has it, unless it may be missing. An object in which a member is entered is looked at twice.
 */
function perByteOfElements(fields: readonly Field[]): number {
  let most = 0;
  let bytes = ELEMENT_BYTES;
  /** Once, twice, and what is entered of what has to be there. */
  let [once, twice, shortest] = [1, 1, Number.POSITIVE_INFINITY];
  for (const [index, { name, tests }] of fields.entries()) {
    once += 1 + tests.length;
    twice += 2 * (1 + tests.length);
    const entered = ENTERED_READS * tests.length + sumOf(tests, fixedOf);
    most = Math.max(most, once / bytes, (twice + entered) / (bytes + name.length + ENTERED_BYTES));
    if (index > 0) most = Math.max(most, twice / (bytes + shortest));
    if (needsMember(tests)) {
      twice += entered;
      bytes += name.length + MEMBER_BYTES;
      shortest = 1;
    } else {
      // Entered besides: it has bytes of its own for its looks.
      most = Math.max(most, entered / (name.length + ENTERED_BYTES));
      shortest = Math.min(shortest, name.length + ENTERED_BYTES);
    }
  }
  return most;
}

function needsMember(tests: readonly FieldTest[]): boolean {
  return tests.some((test) => test.operator !== 'not_in' && !(test.operator === 'exists' && !test.expected));
}

/** Looks at one object that stands in no array, and at the objects in it. */
function fixedOf(test: FieldTest): number {
  if (test.operator !== 'nested') return 0;
  return test.fields.reduce(
    (sum, { tests }) => sum + 1 + (1 + ENTERED_READS) * tests.length + sumOf(tests, fixedOf),
    0,
  );
}

function sumOf(tests: readonly FieldTest[], of: (test: FieldTest) => number): number {
  return tests.reduce((sum, test) => sum + of(test), 0);
}
