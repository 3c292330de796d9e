/**
 * How request headers are held: lower-case names, every value kept, so that a repeated header can be seen and refused.
 */
import type { Headers } from './types.ts';

/**
 * Node's `rawHeaders` (name, value, name, value, …) as a map. Node's own `headers` object is no source: it joins or
 * drops repeated headers. Values are as node hands them over: one UTF-16 unit per byte (latin1). contract §5.5.
 */
export function headersFromRaw(rawHeaders: readonly string[]): Headers {
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [rawHeaders[at + 1] ?? '']);
    else values.push(rawHeaders[at + 1] ?? '');
  }
  return headers;
}

/** The value of a header sent exactly once and not empty; undefined otherwise. */
export function onlyValue(headers: Headers, name: string): string | undefined {
  const values = headers.get(name);
  return values?.length === 1 && values[0] !== '' ? values[0] : undefined;
}

/** True when the header was sent more than once, whatever the values. */
export function isRepeated(headers: Headers, name: string): boolean {
  return (headers.get(name)?.length ?? 0) > 1;
}
