/** Values as agents send them, of any size and depth, made small before anybody works on them. contract §10. */

/** How much of a value is read at most. */
export interface ValueBounds {
  /** Values: leaves, objects and lists. */
  nodes: number;
  /** Characters of texts and names. */
  characters: number;
}

/** Stands where the rest of a value is left out. */
export const VALUE_REST = '…';

/** Steps into a value; deeper is nobody's input of a tool. */
const DEPTH_MAX = 64;

/**
 * The beginning of a value. `shortened`: what remains of a text or a name, given how many characters may still come; it
 * may be longer.
 */
export function abridged(
  value: unknown,
  limits: ValueBounds,
  shortened: (text: string, left: number) => string,
): unknown {
  let { nodes, characters } = limits;
  const part = (text: string): string => {
    const short = shortened(text, characters);
    characters -= short.length;
    return short;
  };
  const isFull = (): boolean => nodes <= 0 || characters <= 0;
  const visit = (node: unknown, depth: number): unknown => {
    nodes -= 1;
    if (typeof node === 'string') return part(node);
    if (typeof node !== 'object' || node === null) return node;
    if (depth >= DEPTH_MAX) return VALUE_REST;
    if (Array.isArray(node)) {
      const items: unknown[] = [];
      for (let at = 0; at < node.length; at += 1) {
        if (isFull()) return [...items, VALUE_REST];
        items.push(visit(node[at], depth + 1));
      }
      return items;
    }
    const members: [string, unknown][] = [];
    for (const name of Object.keys(node)) {
      if (isFull()) return Object.fromEntries([...members, [VALUE_REST, VALUE_REST]]);
      members.push([part(name), visit((node as Record<string, unknown>)[name], depth + 1)]);
    }
    return Object.fromEntries(members);
  };
  return visit(value, 0);
}

/** The value with other texts and names, which are asked for in the same order each time. */
export function respelled(value: unknown, spell: (text: string) => string): unknown {
  if (typeof value === 'string') return spell(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => respelled(item, spell));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [spell(name), respelled(member, spell)]));
}
