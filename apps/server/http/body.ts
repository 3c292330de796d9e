/** Bodies of the API: read whole, parsed strictly, then checked by their schema; every offending member is named. contract 3. */
import { StandardSchemaValidationPipe } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './answers.ts';

/** Create and follow-up may carry attachments; everything else is small. contract 3. */
export const BODY_BYTES_MAX = 1_048_576;

/** Arrays and objects inside each other: ours need five; what recurses over a body must not run out of stack. */
export const BODY_DEPTH_MAX = 64;

/** Replaces the framework's parsers: JSON whatever the charset parameter says, 415 for any other type, 400 with our words for bad JSON. */
export function parseJsonBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX }, (request, body, done) => {
    if ((body as Buffer).length === 0) return done(null, undefined);
    if (!/^application\/([a-z.+-]+\+)?json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) return done(new Refusal('invalid_request', 'send the body as application/json', { status: 415 }));
    try {
      done(null, parse(body as Buffer));
    } catch (error) {
      done(error instanceof Refusal ? error : new Refusal('invalid_request', 'the body is not valid JSON'));
    }
  });
}

function parse(body: Buffer): unknown {
  const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  if (depthOf(body) > BODY_DEPTH_MAX) throw new Refusal('invalid_request', 'the body is nested too deeply');
  return parsed;
}

/** How deep valid JSON nests, counted over its bytes: every byte of a longer character is above ASCII. */
export function depthOf(json: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === ARRAY_START || byte === OBJECT_START) deepest = Math.max(deepest, (depth += 1));
    else if (byte === ARRAY_END || byte === OBJECT_END) depth -= 1;
  }
  return deepest;
}

const [QUOTE, BACKSLASH, ARRAY_START, ARRAY_END, OBJECT_START, OBJECT_END] = Buffer.from('"\\[]{}');

/** Place of the quote that ends the string which starts at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** The one pipe: a parameter that carries a schema is checked against it. */
export const schemaPipe = (): StandardSchemaValidationPipe =>
  new StandardSchemaValidationPipe({
    exceptionFactory: (issues) =>
      new Refusal('invalid_request', issues.length === 1 ? (issues[0]?.message ?? '') : `${issues.length} members of the body are invalid`, {
        errors: issues.map(({ path, message }) => ({ pointer: pointerOf(path), message })),
      }),
  });

/** Our schemas put the whole JSON pointer into the first element of an issue's path. */
function pointerOf(path: readonly unknown[] | undefined): string {
  const [pointer] = path ?? [];
  return typeof pointer === 'string' ? pointer : '';
}

/** A whole number of the query within bounds. */
export function queryInteger(text: string | undefined, name: string, byDefault: number, min: number, max: number): number {
  if (text === undefined || text === '') return byDefault;
  if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new Refusal('invalid_request', `${name} must be a whole number from ${min} to ${max}`, { errors: [{ pointer: name, message: `must be a whole number from ${min} to ${max}` }] });
}

/** Value of a query parameter that is not repeatable: the first, however often it comes. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Values of a repeatable query parameter. */
export function queryList(value: string | string[] | undefined): string[] | undefined {
  if (value === undefined || value === '') return undefined;
  return Array.isArray(value) ? value : [value];
}
