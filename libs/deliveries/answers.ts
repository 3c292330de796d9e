/**
 * What each refusal means (status, outcome, failure budget), and the constant text of every answer. spec: Errors;
 * contract §5.
 */
import type { IngressStatus, OutcomeKind } from './types.ts';

/**
 * Every way a request can be refused. `too-large-unauthenticated` is the 413 of signature mode, which comes before the
 * signature.
 */
export type IngressRefusal =
  | 'not-post'
  | 'not-found'
  | 'unauthenticated'
  | 'failures-over-budget'
  | 'too-large'
  | 'too-large-unauthenticated'
  | 'over-rate'
  | 'invalid-json'
  | 'unavailable';

export interface RefusalRule {
  status: Exclude<IngressStatus, 202>;
  /** Log outcome; absent: not logged. */
  outcome?: OutcomeKind;
  /** What the refusal becomes when the failure budget of (webhook, client address) is spent; absent: it stays. */
  overBudget?: IngressRefusal;
  /** The answer needs a Retry-After header. */
  retryAfter?: true;
}

export const REFUSALS: Readonly<Record<IngressRefusal, RefusalRule>> = {
  'not-post': { status: 405 },
  'not-found': { status: 404 },
  unauthenticated: { status: 401, outcome: 'rejectedAuth', overBudget: 'failures-over-budget' },
  'failures-over-budget': { status: 429, retryAfter: true },
  'too-large': { status: 413, outcome: 'rejectedTooLarge' },
  'too-large-unauthenticated': { status: 413, outcome: 'rejectedTooLarge' },
  'over-rate': { status: 429, outcome: 'throttled', retryAfter: true },
  'invalid-json': { status: 400, outcome: 'rejectedInvalidJson' },
  unavailable: { status: 503, retryAfter: true },
};

/** A refusal's answer: `body` is JSON, the same for every webhook; it echoes nothing of the request. */
export interface IngressAnswer {
  body: string;
  headers: Readonly<Record<string, string>>;
}

const answer = (error: string, headers: Record<string, string> = {}): IngressAnswer => ({
  body: `{"error": "${error}"}`,
  headers,
});

/** The constant answer of each refusing status. */
export const INGRESS_ANSWERS: Readonly<Record<Exclude<IngressStatus, 202>, IngressAnswer>> = {
  400: answer('body is not valid JSON'),
  401: answer('authentication failed'),
  404: answer('webhook not found'),
  405: answer('only POST is accepted', { allow: 'POST' }),
  413: answer('body is larger than 262144 bytes'),
  429: answer('too many requests'),
  503: answer('temporarily unavailable'),
};

/** Body of the 202. The value is an `Identity` value, visible ASCII. spec: Responses. */
export function acceptedBody(deliveryId: string): string {
  return `{"delivery_id": ${JSON.stringify(deliveryId)}}`;
}
