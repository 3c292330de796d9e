/**
 * Bodies of the API: read whole within bounds of size and time, parsed strictly, then checked by their schema; every
 * offending member is named. contract §3.
 */
import { createHash, randomUUID } from 'node:crypto';
import { StandardSchemaValidationPipe } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findJsonFault, IncrementalJsonParser } from '#contracts';
import { BODY_MS_MAX } from '#deliveries';
import { needsOf } from './access-guard.ts';
import { invalidMembers, RefusalError } from './error-codes.ts';
import { declaredLength, readRawBody, waitsForContinue, type RawBody } from './raw-bodies.ts';
import { recordOf } from './requests.ts';
import { BODY_RETRY_AFTER_SECONDS, type UnfinishedBodies } from './unfinished-bodies.ts';

/** contract §3: larger ones hold up everybody else. */
export const API_BODY_BYTES_MAX = 1_048_576;
/** contract §3: of a create or follow-up that carries attachments. */
export const BODY_BYTES_WITH_ATTACHMENTS_MAX = 8 * 1_048_576;
/** contract §3.12 (One size): of a tree of files: 64 MiB of text, with what JSON adds to it. */
export const TREE_BODY_BYTES_MAX = 96 * 1_048_576;
/** Of one file of a tree, which has a path and a content: more would only be for the memory that it takes. */
const TREE_FILE_MEMBERS_MAX = 100;
/** What is to come of a tree in a millisecond at least: 1 MiB a second. */
const TREE_BYTES_PER_MS = 1_049;
/** Of a request that needs no key: room for a key and some members, so that strangers take no memory worth naming. */
export const BODY_BYTES_OF_STRANGERS_MAX = 16_384;

/** Arrays and objects inside each other: ours need five; what recurses over a body must not run out of stack. */
export const BODY_DEPTH_MAX = 64;

const JSON_TYPE = /^application\/([a-z.+-]+\+)?json\s*(;|$)/i;

/**
 * Replaces the framework's parsers: JSON whatever the charset parameter says, 415 for any other type, and our words for
 * what cannot be read.
 */
export function parseJsonBodies(fastify: FastifyInstance, unfinished: UnfinishedBodies, bodyMsMax = BODY_MS_MAX): void {
  fastify.removeAllContentTypeParsers();
  const limits = { bodyMsMax, budget: new BodyBudget(), unfinished };
  fastify.addContentTypeParser('*', (request: FastifyRequest) => readJson(request, limits));
  fastify.addHook('preParsing', continueWhenAsked);
}

/** The sender holds its body back until it is asked for: only now is it known that it is wanted. */
async function continueWhenAsked(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<never> {
  if (!needsOf(request).readsBodyItself && waitsForContinue(request.raw)) reply.raw.writeContinue();
  return payload as never;
}

interface BodyLimits {
  bodyMsMax: number;
  budget: BodyBudget;
  unfinished: UnfinishedBodies;
}

async function readJson(request: FastifyRequest, limits: BodyLimits): Promise<unknown> {
  if (isEmpty(request) || needsOf(request).readsBodyItself) return undefined;
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new RefusalError('invalid_request', 'send the body as application/json', { status: 415 });
  const tree = treeLength(request);
  if (tree !== undefined) return readTree(request, limits, tree);
  const bytes = await readBytes(request, limits, bytesMaxOf(request));
  const record = recordOf(request.raw);
  record.bodyBytes = bytes.length;
  record.bodyHash = createHash('sha256').update(bytes).digest();
  if (bytes.length === 0) return undefined;
  const value = parse(bytes);
  const { openBodyBytes = API_BODY_BYTES_MAX } = needsOf(request);
  if (bytes.length > openBodyBytes && !hasAttachments(value)) throw tooLarge(openBodyBytes);
  return value;
}

/** Declared length of a tree of files that is read while it comes; undefined: the body is read whole. */
function treeLength(request: FastifyRequest): number | undefined {
  const declared = declaredLength(request.raw) ?? 0;
  const isTree = needsOf(request).withTree && declared > bytesMaxOf(request);
  return isTree && recordOf(request.raw).access !== undefined ? declared : undefined;
}

/** Reads a large tree file by file; its room is taken until the answer is sent. */
async function readTree({ raw }: FastifyRequest, limits: BodyLimits, length: number): Promise<unknown> {
  const record = recordOf(raw);
  if (length > TREE_BODY_BYTES_MAX) throw tooLarge(TREE_BODY_BYTES_MAX);
  record.release = limits.budget.take(record.access?.keyId ?? '', length);
  const parts = new IncrementalJsonParser({
    depthMax: BODY_DEPTH_MAX,
    restBytesMax: API_BODY_BYTES_MAX,
    membersMax: TREE_FILE_MEMBERS_MAX,
    mark: `${randomUUID()}:`,
  });
  const hash = createHash('sha256');
  const sink = (piece: Buffer): void => {
    hash.update(piece);
    parts.add(piece);
  };
  const timeoutMs = limits.bodyMsMax + length / TREE_BYTES_PER_MS;
  const body = await readRawBody(raw, { bytesMax: length, timeoutMs, sink });
  wholeBody(body, length, timeoutMs);
  record.bodyBytes = length;
  record.bodyHash = hash.digest();
  const value = parts.fault === undefined ? parts.end() : undefined;
  if (parts.fault === undefined) return value;
  if (parts.fault === 'too-large') throw tooLarge(API_BODY_BYTES_MAX, 'beside its files');
  throw new RefusalError('invalid_request', FAULTS[parts.fault]);
}

const FAULTS = {
  'not-utf8': 'the body is not UTF-8',
  'not-json': 'the body is not valid JSON',
  'too-deep': 'the body is nested too deeply',
  'too-many-members': `a file of the body has more than ${TREE_FILE_MEMBERS_MAX} members`,
} as const;

function isEmpty({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** Who has a key is told before anything is read; of all others is counted what they hold. */
async function readBytes({ raw }: FastifyRequest, limits: BodyLimits, bytesMax: number): Promise<Buffer> {
  const { budget, unfinished, bodyMsMax } = limits;
  const { access, clientAddress } = recordOf(raw);
  const bounds = { bytesMax, timeoutMs: bodyMsMax };
  if (access === undefined)
    return wholeBody(await readRawBody(raw, { ...bounds, unfinished, clientAddress }), bytesMax, bodyMsMax);
  const giveBack = budget.take(access.keyId, Math.min(declaredLength(raw) ?? bytesMax, bytesMax));
  return wholeBody(await readRawBody(raw, bounds).finally(giveBack), bytesMax, bodyMsMax);
}

function bytesMaxOf(request: FastifyRequest): number {
  const { role, withAttachments, openBodyBytes } = needsOf(request);
  if (role === 'everybody') return BODY_BYTES_OF_STRANGERS_MAX;
  if (openBodyBytes !== undefined) return Math.max(openBodyBytes, BODY_BYTES_OF_STRANGERS_MAX);
  return withAttachments ? BODY_BYTES_WITH_ATTACHMENTS_MAX : API_BODY_BYTES_MAX;
}

/** The bytes of a body that came whole; throws the refusal of one that did not. */
export function wholeBody(body: RawBody, bytesMax: number, bodyMsMax = BODY_MS_MAX): Buffer {
  switch (body.kind) {
    case 'whole':
      return body.bytes;
    case 'too-large':
      throw tooLarge(bytesMax);
    case 'timeout':
      throw new RefusalError('invalid_request', `the body did not come within ${Math.ceil(bodyMsMax / 1000)} seconds`, {
        status: 408,
        retryable: true,
      });
    case 'over-budget':
      throw new RefusalError('resource_unavailable', 'too many bodies are being sent at once', {
        retryAfterSeconds: BODY_RETRY_AFTER_SECONDS,
      });
    case 'aborted':
      throw new RefusalError('invalid_request', 'the body broke off');
  }
}

function tooLarge(bytesMax: number, of = ''): RefusalError {
  const detail = `the body is larger than ${bytesMax} bytes${of === '' ? '' : ` ${of}`}`;
  return new RefusalError('invalid_request', detail, { status: 413 });
}

function hasAttachments(body: unknown): boolean {
  const { attachments } = (body ?? {}) as { attachments?: unknown };
  return Array.isArray(attachments) && attachments.length > 0;
}

function parse(bytes: Buffer): unknown {
  const text = decoded(bytes);
  const parsed = parsedText(text);
  if (depthOf(bytes) > BODY_DEPTH_MAX) throw new RefusalError('invalid_request', 'the body is nested too deeply');
  return parsed;
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RefusalError('invalid_request', 'the body is not UTF-8');
  }
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engine's own message repeats what it stumbled over.
    const place = findJsonFault(text);
    throw new RefusalError(
      'invalid_request',
      `the body is not valid JSON${place === undefined ? '' : `: line ${place.line}, column ${place.column}`}`,
    );
  }
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

/**
 * The framework deletes members called `__proto__`, `prototype` and `constructor` from every body. Here these are names
 * like others:
 * own members of what was parsed, which a payload and its filter may have. contract §7.2 (own properties only).
 */
class SchemaPipe extends StandardSchemaValidationPipe {
  protected override stripProtoKeys(): void {}
}

/** The one pipe: a parameter that carries a schema is checked against it. */
export const schemaPipe = (): StandardSchemaValidationPipe =>
  new SchemaPipe({
    exceptionFactory: (issues) =>
      invalidMembers(issues.map(({ path, message }) => ({ pointer: pointerOf(path), message }))),
  });

/** Our schemas put the whole JSON pointer into the first element of an issue's path. */
function pointerOf(path: readonly unknown[] | undefined): string {
  const [pointer] = path ?? [];
  return typeof pointer === 'string' ? pointer : '';
}

/** Of all keys together, room that is taken before a body is read: what a small machine can spare. */
export const BODIES_BYTES_MAX = 256 * 1_048_576;
/** Of one key: a tree, or twelve bodies with attachments at once, so that no key takes the room of the others. */
export const BODIES_BYTES_OF_KEY_MAX = TREE_BODY_BYTES_MAX;
/** Seconds after which room is likely. */
const RETRY_AFTER_SECONDS = 1;

export class BodyBudget {
  private used = 0;
  private readonly usedByKey = new Map<string, number>();

  /**
   * Room for a body of at most so many bytes; to be given back when the body has been read. Throws 429 or 503 while
   * there is none.
   */
  take(keyId: string, bytes: number): () => void {
    const ofKey = this.usedByKey.get(keyId) ?? 0;
    if (ofKey + bytes > BODIES_BYTES_OF_KEY_MAX)
      throw this.refusal(429, 'this API key sends too many large bodies at once');
    if (this.used + bytes > BODIES_BYTES_MAX) throw this.refusal(503, 'too many large bodies are being sent at once');
    this.put(keyId, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.put(keyId, -bytes);
      isHeld = false;
    };
  }

  private put(keyId: string, bytes: number): void {
    this.used += bytes;
    const ofKey = (this.usedByKey.get(keyId) ?? 0) + bytes;
    if (ofKey > 0) this.usedByKey.set(keyId, ofKey);
    else this.usedByKey.delete(keyId);
  }

  private refusal(status: number, detail: string): RefusalError {
    return new RefusalError('resource_unavailable', detail, { status, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
