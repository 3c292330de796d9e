/**
 * How a signature header splits into candidate signatures and named pairs. Linear in the header's length, whatever it
 * holds.
 */
import type { SignatureScheme } from './types.ts';

/** A signature header's parts, in order. */
export interface SignatureHeader {
  /** Text of every signature under a key of the scheme. */
  candidates: readonly string[];
  /** Its pairs: key, value, key, value, … */
  pairs: readonly string[];
}

/**
 * Splits a header value as the scheme says; undefined when a constant prefix is missing. Pairs of other keys (older
 * versions) are no candidates.
 */
export function readSignatureHeader(form: SignatureScheme['signature'], value: string): SignatureHeader | undefined {
  const { prefix = '', itemSeparator, pairSeparator, keys = [] } = form;
  if (!value.startsWith(prefix)) return undefined;
  const rest = prefix === '' ? value : value.slice(prefix.length);
  const items = itemSeparator === undefined ? [rest] : rest.split(itemSeparator);
  if (pairSeparator === undefined) return { candidates: items, pairs: [] };
  const pairs = readPairs(items, pairSeparator);
  const [key] = keys;
  const isOfOneKey = key !== undefined && keys.length === 1;
  return { candidates: isOfOneKey ? pairValues(pairs, key) : keys.flatMap((one) => pairValues(pairs, one)), pairs };
}

/** What the pairs of this key have, in order. */
export function pairValues(pairs: readonly string[], key: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === key) values.push(pairs[at + 1] as string);
  return values;
}

function readPairs(items: readonly string[], separator: string): string[] {
  const pairs: string[] = [];
  for (const item of items) {
    const at = item.indexOf(separator);
    if (at >= 0) pairs.push(item.slice(0, at), item.slice(at + separator.length));
  }
  return pairs;
}
