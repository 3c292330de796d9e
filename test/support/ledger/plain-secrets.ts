/** Looks for secrets where they must not be: in the clear, and in the forms in which they slip through. */
import { readdirSync, readFileSync } from 'node:fs';

/** A secret that was planted, by what it is. */
export type Planted = ReadonlyMap<string, string>;

/**
 * Every form of a secret that is looked for: as it is, as base64 wherever it stands in what was encoded, as hexadecimal
 * digits, percent-encoded.
 */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const everyByte = hex.replace(/../g, '%$&');
  const encoded = [0, 1, 2].flatMap((before) => {
    // What stands before and behind it shares characters with it: those are left out.
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const own = text.slice(Math.ceil((before * 4) / 3), text.length - ((before + bytes.length) % 3 === 0 ? 0 : 1));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      hex,
      hex.toUpperCase(),
      everyByte,
      everyByte.toUpperCase(),
      ...encoded,
    ]),
  ];
}

/** Which secrets stand in some bytes: what they are, never what they say. */
export function secretsIn(where: Uint8Array | string, planted: Planted): string[] {
  const bytes =
    typeof where === 'string'
      ? Buffer.from(where, 'utf8')
      : Buffer.from(where.buffer, where.byteOffset, where.byteLength);
  return [...planted]
    .filter(([, secret]) => formsOf(secret).some((form) => bytes.includes(form)))
    .map(([what]) => what);
}

/** The arguments of every process that there is now, one process a line. */
export function allArguments(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      } catch {
        return ''; // it has ended meanwhile
      }
    })
    .join('\n');
}
