/** Which of the types and encodings that we can answer a client accepts. contract §3.10 (406). */
import type { FastifyRequest } from 'fastify';
import { OPERATIONS, type Operation } from '#contracts';
import { RefusalError } from './error-codes.ts';

/** What a route answers with, by method and path with its parameters left out. */
const PRODUCED: ReadonlyMap<string, readonly string[]> = new Map(
  OPERATIONS.flatMap(({ operations }) =>
    operations.map(
      (operation) =>
        [`${operation.method} /api/v1${operation.path.replace(/\{[^}]+\}/g, '{}')}`, producedBy(operation)] as const,
    ),
  ),
);

function producedBy({ answers }: Operation): readonly string[] {
  const successes = Object.entries(answers).flatMap(([status, answer]) => (status.startsWith('2') ? [answer] : []));
  return successes.flatMap(({ schema, contentType, otherContentTypes = [] }) => [
    ...(schema === undefined && contentType === undefined ? [] : [contentType ?? 'application/json']),
    ...otherContentTypes,
  ]);
}

/** Throws 406 when the Accept header excludes everything that the operation of a request can answer. */
export function refuseUnacceptable({ method, routeOptions, headers }: FastifyRequest): void {
  const path = (routeOptions.url ?? '').replace(/:[^/]+/g, '{}');
  const types = PRODUCED.get(`${method === 'HEAD' ? 'get' : method.toLowerCase()} ${path}`) ?? [];
  if (types.length === 0 || types.includes('*/*') || acceptedType(headers.accept, types) !== undefined) return;
  const message = `must allow ${types.join(' or ')}`;
  throw new RefusalError('invalid_request', `the header Accept ${message}`, {
    status: 406,
    errors: [{ pointer: 'Accept', message }],
  });
}

interface Range {
  type: string;
  subtype: string;
  quality: number;
}

/**
 * The best of `types` (no parameters; first is preferred among equals) for an Accept header; undefined: it excludes all
 * of them. No header, or one that cannot be read, accepts everything.
 */
export function acceptedType(accept: string | undefined, types: readonly string[]): string | undefined {
  const ranges = (accept ?? '').split(',').flatMap(parseRange);
  if (ranges.length === 0) return types[0];
  const [best] = types
    .map((type) => ({ type, quality: qualityOf(type, ranges) }))
    .toSorted((a, b) => b.quality - a.quality);
  return best === undefined || best.quality === 0 ? undefined : best.type;
}

/** Those of our encodings that an Accept-Encoding header takes, in our order; none without a header. RFC 9110. */
export function acceptedEncodings<E extends string>(header: string | undefined, encodings: readonly E[]): E[] {
  const named = new Map(
    (header ?? '')
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
        return [name, !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter))];
      }),
  );
  return encodings.filter((encoding) => named.get(encoding) ?? named.get('*') ?? false);
}

/** Quality of the most specific range that covers a type; 0: none does. */
function qualityOf(name: string, ranges: readonly Range[]): number {
  const [type, subtype] = name.split('/');
  const covering = ranges.filter(
    (range) => (range.type === '*' || range.type === type) && (range.subtype === '*' || range.subtype === subtype),
  );
  const specificity = ({ type: rangeType, subtype: rangeSubtype }: Range): number =>
    (rangeType === '*' ? 0 : 1) + (rangeSubtype === '*' ? 0 : 1);
  return covering.toSorted((a, b) => specificity(b) - specificity(a))[0]?.quality ?? 0;
}

function parseRange(text: string): Range[] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const [, type = '', subtype = ''] = /^([!#$%&'*+.^_`|~0-9a-z-]+)\/([!#$%&'*+.^_`|~0-9a-z-]+)$/.exec(name) ?? [];
  if (type === '') return [];
  const quality = parameters
    .map((parameter) => /^q=(\d(?:\.\d{0,3})?)$/.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return [{ type, subtype, quality: Math.min(1, Number(quality ?? 1)) }];
}
