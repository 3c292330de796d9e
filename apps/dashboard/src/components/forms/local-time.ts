/** Times as the browser's own input takes and gives them, in the viewer's zone. */

/** `2030-01-31T09:30` of an RFC 3339 time; blank of none, and of what is no time. */
export function toLocal(at: string | null): string {
  const date = new Date(at ?? '');
  return Number.isNaN(date.getTime())
    ? ''
    : new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The same back; undefined for what is no time. */
export function fromLocal(text: string): string | undefined {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
