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

/**
 * The signed bytes. The body itself where nothing else is signed; else a copy with what is around it, which costs less
 * than to hand over each part by itself. Header text is one byte per character, as node reads it.
 */
export function signedMessage(
  template: string,
  body: Uint8Array,
  timestamp: string | undefined,
  header: (name: string) => string,
): Uint8Array {
  const parts = partsOf(template);
  if (parts.length === 1 && parts[0] === '{body}') return body;
  return Buffer.concat(
    parts.map((part) => {
      if (part === '{body}') return body;
      if (part === '{timestamp}') return Buffer.from(timestamp ?? '', 'latin1');
      return Buffer.from(part.startsWith('{header:') ? header(headerName(part)) : part, 'latin1');
    }),
  );
}

function headerName(placeholder: string): string {
  return placeholder.slice('{header:'.length, -1);
}
