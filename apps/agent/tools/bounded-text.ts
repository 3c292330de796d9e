/** Keeps the beginning and the end of what may be a flood, never all of it. */

/** Collects output, of which only the first and the last bytes are stored. */
export interface HeadAndTail {
  push(bytes: Uint8Array): void;
  /** Bytes pushed so far. */
  readonly total: number;
  /** The stored bytes as text, with a line between head and tail that gives the omitted size. */
  text(): string;
}

/** Keeps `bytesMax` bytes: half of them from the beginning, half from the end. */
export function headAndTail(bytesMax: number): HeadAndTail {
  const half = Math.floor(bytesMax / 2);
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;
  const keepTail = (bytes: Buffer): void => {
    tail.push(bytes);
    tailBytes += bytes.length;
    // Compacted only when it has doubled: many small pieces must not be copied each time.
    if (tailBytes <= 2 * half || tail.length === 1) return;
    tail = [Buffer.concat(tail).subarray(-half)];
    tailBytes = half;
  };
  return {
    push: (bytes) => {
      total += bytes.length;
      const forHead = Buffer.from(bytes.subarray(0, half - headBytes));
      if (forHead.length > 0) head.push(forHead);
      headBytes += forHead.length;
      if (forHead.length < bytes.length) keepTail(Buffer.from(bytes.subarray(forHead.length)));
    },
    get total() {
      return total;
    },
    text: () => {
      const end = Buffer.concat(tail).subarray(-half);
      const missing = total - headBytes - end.length;
      if (missing <= 0) return decoded(Buffer.concat([...head, end]));
      return `${decoded(Buffer.concat(head))}\n… ${missing} bytes left out …\n${decoded(end)}`;
    },
  };
}

/** The beginning and the end of a text, within so many bytes of UTF-8. */
export function bounded(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const kept = headAndTail(bytesMax);
  kept.push(Buffer.from(text));
  return kept.text();
}

/**
 * Characters of a string inside a value that is shown, and of all of them together: what was called is to be
 * recognised, not repeated.
 */
const SHOWN_STRING_LENGTH_MAX = 2_000;
const SHOWN_LENGTH_MAX = 16_000;

/** A JSON value with long strings cut, small enough to be shown with a tool call. */
export function shownValue(value: unknown): unknown {
  const cut: unknown = JSON.parse(
    JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === 'string' ? shownString(part) : part)),
  );
  const text = JSON.stringify(cut);
  return text.length <= SHOWN_LENGTH_MAX ? cut : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}

function shownString(text: string): string {
  if (text.length <= SHOWN_STRING_LENGTH_MAX) return text;
  return `${text.slice(0, SHOWN_STRING_LENGTH_MAX)}… ${text.length - SHOWN_STRING_LENGTH_MAX} characters left out`;
}

/** Cuts fall between bytes, so a character at a cut may become a replacement character. */
function decoded(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
