/** How JSON pointers (RFC 6901) are written, and how people read them. */

/** One segment of a JSON pointer. */
export function escapeSegment(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The name that one segment of a JSON pointer stands for. */
export function unescapeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A JSON pointer as people write it: `/triggers/0/event` → `triggers[0].event`; the root is called `root`. */
export function labelOf(pointer: string, root = 'the document'): string {
  if (pointer === '') return root;
  const segments = pointer.slice(1).split('/').map(unescapeSegment);
  return segments
    .map((segment, index) => (/^\d+$/.test(segment) ? `[${segment}]` : (index === 0 ? '' : '.') + segment))
    .join('');
}
