/** Reads answers and holds them to what the interface promises. */
import type { WithResponse } from './answers.ts';
import { APIResponseValidationError, mediaTypeOf, requestIdOf } from './errors.ts';
import type { AnswerKind } from './resource.ts';
import { described, findMisfit, type Misfit, type ShapeName } from './shapes.ts';

/** An answer with the text that it was read of; empty for bytes. */
export interface Read {
  data: unknown;
  text: string;
}

/**
 * The body of a successful answer. Throws APIResponseValidationError, and whatever reading ends with when the
 * connection is lost.
 */
export async function readBody(kind: AnswerKind, label: string, response: Response): Promise<Read> {
  if (kind === 'bytes') return { data: new Uint8Array(await response.arrayBuffer()), text: '' };
  const text = await response.text();
  if (kind === 'none') return { data: undefined, text };
  if (kind === 'unchecked') return { data: readUnchecked(label, response, text), text };
  const data = readJson(label, response, text);
  checkShape(kind, data, { label, response, text });
  return { data, text };
}

function readUnchecked(label: string, response: Response, text: string): unknown {
  if (text === '') return undefined;
  if (saysJson(response)) return readJson(label, response, text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function readJson(label: string, response: Response, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const words = saysJson(response) ? 'not whole JSON' : `not JSON (${mediaTypeOf(response)})`;
    throw new APIResponseValidationError(`${label}: the answer is ${words}`, {
      response,
      body: text,
      pointer: '',
      expected: 'JSON',
    });
  }
}

function saysJson(response: Response): boolean {
  return /[/+]json$/.test(mediaTypeOf(response));
}

/** Throws APIResponseValidationError where a value has not the shape. */
export function checkShape(
  shape: ShapeName,
  data: unknown,
  { label, response, text }: { label: string; response: Response; text: string },
): void {
  const misfit = findMisfit(shape, data);
  if (misfit === undefined) return;
  throw new APIResponseValidationError(`${label}: the answer ${words(misfit)}`, {
    response,
    body: text,
    pointer: misfit.pointer,
    expected: misfit.expected,
  });
}

function words({ pointer, expected, found }: Misfit): string {
  return pointer === '' ? `is no ${expected} (${found})` : `has no ${expected} at ${pointer} (${found})`;
}

/** The list of a page. Throws APIResponseValidationError where there is none. */
export function checkList<Item>(
  data: unknown,
  member: string,
  { label, response, text }: { label: string; response: Response; text: string },
): Item[] {
  const { [member]: list, page_info: pageInfo } = Object(data) as Readonly<Record<string, unknown>>;
  const misfit = Array.isArray(list)
    ? pageInfoMisfit(pageInfo)
    : { pointer: `/${member}`, expected: 'list', found: described(list) };
  if (misfit === undefined) return list as Item[];
  throw new APIResponseValidationError(`${label}: the answer ${words(misfit)}`, {
    response,
    body: text,
    pointer: misfit.pointer,
    expected: misfit.expected,
  });
}

function pageInfoMisfit(pageInfo: unknown): Misfit | undefined {
  const misfit = findMisfit('PageInfo', pageInfo);
  return misfit === undefined ? undefined : { ...misfit, pointer: `/page_info${misfit.pointer}` };
}

/** What a response comes to, with the response and its request ID. */
export async function received<T>(
  kind: AnswerKind,
  label: string,
  response: Response,
  toData: (read: Read, response: Response) => T,
): Promise<WithResponse<T>> {
  const read = await readBody(kind, label, response);
  return { data: toData(read, response), response, request_id: requestIdOf(response) };
}
