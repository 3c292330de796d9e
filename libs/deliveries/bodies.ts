/** Whether a body is exactly one JSON text in UTF-8. spec: Request rules 2; contract §5.2 (step 5). */
import type { JsonValue } from '#filters';

export type ParsedBody = { ok: true; value: JsonValue } | { ok: false };

/**
 * Parses the raw bytes. Invalid: empty, not UTF-8, a byte order mark, anything but one JSON text. Valid whatever it
 * holds: scalars, duplicate keys (the last wins), `__proto__` (an own property), lone surrogate escapes, numbers
 * beyond a double (they become infinite), any nesting. A failure that is not about the text (memory, stack) is thrown:
 * it must become 503, never "not valid JSON". Deep values are safe to walk with a loop or a bounded depth only;
 * `JSON.stringify` overflows on them.
 */
export function parseJsonBody(body: Uint8Array): ParsedBody {
  const text = decodeUtf8(body);
  if (text === undefined) return { ok: false };
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    if (propertyOf(error, 'name') !== 'SyntaxError') throw error;
    return { ok: false };
  }
}

/** Keeps nothing from one body to the next: each is decoded whole. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Text of the bytes; undefined when they are not UTF-8. A byte order mark is kept, so that the JSON parser refuses it.
 */
function decodeUtf8(body: Uint8Array): string | undefined {
  try {
    return UTF8.decode(body);
  } catch (error) {
    if (propertyOf(error, 'code') !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    return undefined;
  }
}

/** Names and codes are compared, not classes: an error may come from another realm than this module. */
function propertyOf(error: unknown, name: 'name' | 'code'): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}
