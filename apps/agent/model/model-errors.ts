/**
 * Why a model did not answer, as an error that a person can act on; it never holds a credential or a part of the
 * conversation.
 */
import type { RequestError } from '@agentclientprotocol/sdk';
import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  NoOutputGeneratedError,
  RetryError,
  TypeValidationError,
} from 'ai';
import type { AgentConfig, Endpoint } from '../config/config.ts';
import { oneLine } from '../diagnostics.ts';
import { failure, type FailureData } from '../errors.ts';
import { IdleTimeoutError } from './fetch.ts';

interface Failure {
  text: string;
  data: FailureData;
}

/** An answer that ended in the middle. */
export class InterruptedStreamError extends Error {}

/** Characters of the endpoint's own words that are repeated. */
const THEIR_WORDS_LENGTH_MAX = 300;

/** The error that ends the turn. */
export function modelFailure(error: unknown, { endpoint }: AgentConfig): RequestError {
  const { text, data } = failureOf(unwrapped(error), endpoint);
  return failure(text, data);
}

/** Retries wrap what they gave up on. */
function unwrapped(error: unknown): unknown {
  return RetryError.isInstance(error) ? error.lastError : error;
}

function failureOf(error: unknown, endpoint: Endpoint | undefined): Failure {
  const place = `the model endpoint ${endpoint === undefined ? '(demo)' : new URL(endpoint.baseUrl).host}`;
  const silence = causeOf(error, (cause) => cause instanceof IdleTimeoutError);
  if (silence instanceof IdleTimeoutError)
    return { text: `${place} sent nothing for ${silence.seconds} s`, data: { kind: 'silent', retryable: true } };
  if (APICallError.isInstance(error))
    return error.statusCode === undefined
      ? unreachable(error, place)
      : answered(error, error.statusCode, place, endpoint);
  if (isBrokenOff(error)) return brokenOff(place);
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) return noAnswer(place);
  return { text: `${place} failed: ${theirWords(error, endpoint)}`, data: { kind: 'failed', retryable: true } };
}

function brokenOff(place: string): Failure {
  return { text: `the answer of ${place} broke off in the middle`, data: { kind: 'broken_off', retryable: true } };
}

function noAnswer(place: string): Failure {
  return {
    text:
      `${place} sent something that is not an answer of a model; check MILLWRIGHT_AGENT_PROVIDER and ` +
      'MILLWRIGHT_AGENT_BASE_URL',
    data: { kind: 'malformed', retryable: false },
  };
}

/** Also a connection that was lost in the middle of an answer: while one is made, errors come as those of the call. */
function isBrokenOff(error: unknown): boolean {
  return (
    error instanceof InterruptedStreamError ||
    NoOutputGeneratedError.isInstance(error) ||
    InvalidResponseDataError.isInstance(error) ||
    codeOf(error) !== undefined
  );
}

function answered(error: APICallError, status: number, place: string, endpoint: Endpoint | undefined): Failure {
  const words = theirWords(error, endpoint);
  const said = `${place} answered ${status}: ${words}`;
  if (status < 400 && codeOf(error) !== undefined) return brokenOff(place);
  if (status < 400) return noAnswer(place);
  if (status === 401 || status === 403)
    return {
      text: `${place} refused the credentials (${status}: ${words}); check MILLWRIGHT_AGENT_API_KEY`,
      data: { kind: 'credentials', retryable: false, status },
    };
  if (status === 404)
    return {
      text: `${said}; check MILLWRIGHT_AGENT_MODEL and MILLWRIGHT_AGENT_BASE_URL`,
      data: { kind: 'not_found', retryable: false, status },
    };
  if (status === 429)
    return {
      text: `${place} limits the rate of requests or the quota is used up (429: ${words}); try again later`,
      data: { kind: 'rate_limited', retryable: true, status },
    };
  if (status >= 500 || status === 408 || status === 409)
    return { text: said, data: { kind: 'unavailable', retryable: true, status } };
  return { text: said, data: { kind: 'refused', retryable: false, status } };
}

function unreachable(error: unknown, place: string): Failure {
  const code = codeOf(error) ?? 'connection failed';
  return {
    text: `${place} cannot be reached (${code}); check MILLWRIGHT_AGENT_BASE_URL and the network`,
    data: { kind: 'unreachable', retryable: true },
  };
}

/** What the endpoint says, on one line, short, without the key that it may repeat. */
function theirWords(error: unknown, endpoint: Endpoint | undefined): string {
  const message = messageOf(error);
  const key = endpoint?.credential?.value;
  const hidden = key === undefined ? message : message.replaceAll(key, '[redacted]');
  return oneLine(hidden, THEIR_WORDS_LENGTH_MAX) || 'no reason given';
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : '';
}

/** The code of the system or a library behind an error, such as ECONNREFUSED. */
export function codeOf(error: unknown): string | undefined {
  const found = causeOf(
    error,
    (cause) =>
      typeof (cause as { code?: unknown }).code === 'string' &&
      /^[A-Z][A-Z0-9_]+$/.test((cause as { code: string }).code),
  );
  return found === undefined ? undefined : (found as { code: string }).code;
}

/** Depth to which causes are followed: a cyclic chain must end. */
const CAUSES_MAX = 10;

function causeOf(error: unknown, isIt: (cause: object) => boolean): object | undefined {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && typeof cause === 'object' && cause !== null; depth += 1) {
    if (isIt(cause)) return cause;
    // fetch to a host with several addresses fails with one error for each.
    const { cause: next, errors } = cause as { cause?: unknown; errors?: unknown };
    cause = next ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}
