/** What exactly a scheme signs: the bytes its template stands for. contract §6.1 (cover the body). */

/** `{body}`, `{timestamp}` or `{header:name}`; everything between them is literal text. */
const PLACEHOLDER = /(\{body\}|\{timestamp\}|\{header:[^}]+\})/;

/** Templates in their parts: there are as many as schemes have families. */
const PARTS = new Map<string, readonly string[]>();

function partsOf(template: string): readonly string[] {
  let parts = PARTS.get(template);
  if (parts === undefined) PARTS.set(template, (parts = template.split(PLACEHOLDER).filter((part) => part !== '')));
  return parts;
}

/**
 * Headers a template refers to: `{header:webhook-id}.{timestamp}.{body}` → `webhook-id`. The family is already
 * resolved.
 */
export function headersInTemplate(template: string): string[] {
  return partsOf(template)
    .filter((part) => part.startsWith('{header:'))
    .map(headerName);
}

/** Up to so many bytes a body is copied to what is around it, which takes less time than to digest parts. */
const JOINED_BYTES_MAX = 8_192;

/**
 * The signed bytes as consecutive parts, of a small body as one; a large body is not copied. Header text is one byte
 * per character, as node reads it.
 */
export function signedMessage(
  template: string,
  body: Uint8Array,
  timestamp: string | undefined,
  header: (name: string) => string,
): Uint8Array[] {
  const parts = partsOf(template);
  if (parts.length === 1 && parts[0] === BODY) return [body];
  const texts = parts.map((part) => textOf(part, timestamp, header));
  if (body.length <= JOINED_BYTES_MAX) return [join(texts, body)];
  return texts.map((text) => (text === undefined ? body : Buffer.from(text, 'latin1')));
}

const BODY = '{body}';

/** Undefined: the body stands there. */
function textOf(part: string, timestamp: string | undefined, header: (name: string) => string): string | undefined {
  if (part === BODY) return undefined;
  if (part === '{timestamp}') return timestamp ?? '';
  return part.startsWith('{header:') ? header(headerName(part)) : part;
}

function join(texts: readonly (string | undefined)[], body: Uint8Array): Uint8Array {
  let length = 0;
  for (const text of texts) length += text?.length ?? body.length;
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) {
    if (text === undefined) joined.set(body, at);
    else joined.write(text, at, 'latin1');
    at += text?.length ?? body.length;
  }
  return joined;
}

function headerName(placeholder: string): string {
  return placeholder.slice('{header:'.length, -1);
}
