/**
 * How request headers are asked for: by lower-case name, every value kept, so that a repeated header can be seen and
 * refused.
 */
import type { Headers } from './types.ts';

/**
 * Node's `rawHeaders` (name, value, name, value, …), looked through when a name is asked for: a request is asked for
 * two or three of its headers. Node's own `headers` object is no source: it joins or drops repeated headers. Values are
 * as node hands them over: one UTF-16 unit per byte (latin1). contract §5.5.
 */
export function headersFromRaw(rawHeaders: readonly string[]): Headers {
  return new RawHeaders(rawHeaders);
}

class RawHeaders implements Headers {
  private readonly raw: readonly string[];

  constructor(raw: readonly string[]) {
    this.raw = raw;
  }

  get(name: string): readonly string[] | undefined {
    let values: string[] | undefined;
    for (let at = this.next(name, 0); at >= 0; at = this.next(name, at + 2)) {
      if (values === undefined) values = [this.raw[at + 1] as string];
      else values.push(this.raw[at + 1] as string);
    }
    return values;
  }

  has(name: string): boolean {
    return this.next(name, 0) >= 0;
  }

  /** Where the next header of this name stands from `from` on; −1: nowhere. */
  private next(name: string, from: number): number {
    const { raw } = this;
    for (let at = from; at + 1 < raw.length; at += 2) {
      const candidate = raw[at] as string;
      if (candidate.length === name.length && (candidate === name || candidate.toLowerCase() === name)) return at;
    }
    return -1;
  }
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
