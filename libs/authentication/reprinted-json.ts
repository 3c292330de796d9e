/**
 * A JSON body as senders print it who sign one text and send another: the bytes that they may have signed. contract
 * §5.5 (Credentials).
 */

/**
 * Larger or deeper bodies, and those of more values, are not printed again: printing takes milliseconds, which
 * everybody else waits. Providers' events have some hundred values.
 */
const REPRINTED_BYTES_MAX = 65_536;
const REPRINTED_DEPTH_MAX = 32;
const REPRINTED_VALUES_MAX = 4_096;

/**
 * The same value as JavaScript prints it compact and with two spaces, and as Python prints it. None for what is no
 * JSON, or too much.
 */
export function reprintedJson(body: Uint8Array): Uint8Array[] {
  const value = body.length <= REPRINTED_BYTES_MAX ? parsed(body) : undefined;
  if (value === undefined || !isSmall(value)) return [];
  return [JSON.stringify(value), JSON.stringify(value, undefined, 2), pythonText(value)].map((text) =>
    Buffer.from(text),
  );
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return undefined; // not UTF-8, or no JSON
  }
}

/** Level by level, and no farther than the bounds. */
function isSmall(value: unknown): boolean {
  let level = [value];
  let values = 1;
  for (let depth = 0; depth <= REPRINTED_DEPTH_MAX; depth += 1) {
    level = level.flatMap((parent) => (typeof parent === 'object' && parent !== null ? Object.values(parent) : []));
    values += level.length;
    if (level.length === 0 || values > REPRINTED_VALUES_MAX) return values <= REPRINTED_VALUES_MAX;
  }
  return false;
}

/** `json.dumps(value)` without options: a space behind each separator, and nothing but ASCII. */
function pythonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return asciiText(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${asciiText(key)}: ${pythonText(member)}`)
    .join(', ')}}`;
}

function asciiText(scalar: unknown): string {
  return JSON.stringify(scalar).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
