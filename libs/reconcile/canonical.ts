/** Knows when two definitions say the same: whatever the order of their keys, and with undefined meaning absent. */

/** A text that two plain values share exactly when they are equal so. Never shown: it holds values. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((element) => canonicalText(element)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  // Built as text and not as a sorted copy: a member called `__proto__` would be lost in the copy.
  const members = presentMembers(value).map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`);
  return `{${members.join(',')}}`;
}

/** Names of the members that differ between two objects, sorted by code unit. */
export function differingMembers(before: object, after: object): string[] {
  const texts = new Map(presentMembers(before).map(([name, member]) => [name, canonicalText(member)]));
  const members = presentMembers(after);
  const changed = members.filter(([name, member]) => texts.get(name) !== canonicalText(member)).map(([name]) => name);
  const present = new Set(members.map(([name]) => name));
  const removed = [...texts.keys()].filter((name) => !present.has(name));
  return [...changed, ...removed].sort();
}

function presentMembers(object: object): [string, unknown][] {
  const members = Object.entries(object).filter(([, member]) => member !== undefined);
  return members.sort(([a], [b]) => compareTexts(a, b));
}

/** Order by UTF-16 code unit: the same on every machine, whatever its locale. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
