/** The actual value of a payload where a filter did not match. contract §7. */
import type { JsonValue } from '#filters';

const TEXT_MAX = 120;

/** As JSON, cut; `pointer` goes by the keys of the filter, which looks into each element of an array. */
export function actualValueText(payload: JsonValue, pointer: string): string {
  const names = pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = names.reduce<readonly JsonValue[]>(
    (values, name) => values.flatMap((value) => membersOf(value, name)),
    [payload],
  );
  if (found.length === 0) return 'nothing, it is not there';
  const text = found.map((value) => JSON.stringify(value)).join(', ');
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`;
}

function membersOf(value: JsonValue, name: string): JsonValue[] {
  if (Array.isArray(value)) return value.flatMap((element) => (Array.isArray(element) ? [] : membersOf(element, name)));
  if (typeof value !== 'object' || value === null) return [];
  const member = Object.getOwnPropertyDescriptor(value, name)?.value as JsonValue | undefined;
  return member === undefined ? [] : [member];
}
