/** Knows which field names of a filter were probably meant as paths: names are literal. contract §7.4 (a path). */

/** A path of names in one of the common notations; a label like `app.kubernetes.io/name` is none. */
const NOTATIONS: readonly RegExp[] = [
  /^\$(?:\.|\[|\.\.)/, // JSONPath
  /^\.[A-Za-z_]/, // jq
  /^\/[A-Za-z_]/, // JSON pointer
  /^[A-Za-z_][\w-]*(?:\[(?:\d*|\*)\])?(?:\.[A-Za-z_][\w-]*(?:\[(?:\d*|\*)\])?)+$/, // a.b, a[0].b
  /^[A-Za-z_][\w-]*\[(?:\d*|\*)\]$/, // a[0], a[]
];

/** Longer names are nobody's path. */
const NAME_LENGTH_MAX = 100;
/** Deeper paths than a filter may nest are not shown as what was meant. */
const NAMES_MAX = 10;

/** The names on the path that a field was meant as; undefined where it is a name. */
export function pathMeantBy(name: string, value: unknown): readonly string[] | undefined {
  if (name.length > NAME_LENGTH_MAX || isSurelyField(value)) return undefined;
  if (!NOTATIONS.some((notation) => notation.test(name))) return undefined;
  const names = name.split(/[./[\]'"]+/).filter((part) => !/^(?:\$|\*|\d*)$/.test(part));
  return names.length === 0 || names.length > NAMES_MAX ? undefined : names;
}

/** Who writes `{in: […]}`, or two operators, has been told that a field is meant. */
function isSurelyField(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const operators = ['in', 'not_in', 'exists'].filter((operator) => Object.hasOwn(value, operator));
  return Array.isArray((value as { in?: unknown }).in) || operators.length > 1;
}
