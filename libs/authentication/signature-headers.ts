/**
 * How a signature header splits into candidate signatures and named pairs. Linear in the header's length, whatever it
 * holds.
 */
import type { SignatureScheme } from './types.ts';

/** Text of every signature under a key of the scheme, and every pair of the header by key, in order. */
export interface SignatureHeader {
  candidates: string[];
  pairs: ReadonlyMap<string, readonly string[]>;
}

/**
 * Splits a header value as the scheme says; undefined when a constant prefix is missing. Pairs of other keys (older
 * versions) are kept apart.
 */
export function readSignatureHeader(form: SignatureScheme['signature'], value: string): SignatureHeader | undefined {
  const { prefix = '', itemSeparator, pairSeparator, keys = [] } = form;
  if (!value.startsWith(prefix)) return undefined;
  const rest = value.slice(prefix.length);
  const items = itemSeparator === undefined ? [rest] : rest.split(itemSeparator);
  if (pairSeparator === undefined) return { candidates: items, pairs: new Map() };
  const pairs = readPairs(items, pairSeparator);
  return { candidates: keys.flatMap((key) => pairs.get(key) ?? []), pairs };
}

function readPairs(items: readonly string[], separator: string): Map<string, string[]> {
  const pairs = new Map<string, string[]>();
  for (const item of items) {
    const at = item.indexOf(separator);
    if (at < 0) continue;
    const key = item.slice(0, at);
    const values = pairs.get(key);
    if (values === undefined) pairs.set(key, [item.slice(at + separator.length)]);
    else values.push(item.slice(at + separator.length));
  }
  return pairs;
}
