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
  const parts = partsOf(template).map((part) => {
    if (part === '{body}') return body;
    if (part === '{timestamp}') return Buffer.from(timestamp ?? '', 'latin1');
    return Buffer.from(part.startsWith('{header:') ? header(headerName(part)) : part, 'latin1');
  });
  return parts.length > 1 && body.length <= JOINED_BYTES_MAX ? [Buffer.concat(parts)] : parts;
}

function headerName(placeholder: string): string {
  return placeholder.slice('{header:'.length, -1);
}
