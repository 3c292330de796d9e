/**
 * What a run has used up, counted from what its agents tell: totals of a session, of a turn, or only how full a
 * context is. Every one of these numbers is a lower bound of what an execution has used, so the greatest of them
 * counts. contract §3.5 (request_usage).
 */
import { createHash } from 'node:crypto';

/** What an agent tells at one moment; numbers as they come, whatever they are. */
export interface UsageReport {
  /** Tokens of the session so far, those of earlier executions included. */
  sessionTokens?: number;
  /** Tokens of the turn that has ended. */
  turnTokens?: number;
  /** Tokens in the context of the model: at least one call took that many. */
  contextTokens?: number;
  /** What the session has cost so far. */
  cost?: { amount: number; currency: string };
}

/** What is known of a run's use; a member that no agent has told is absent. */
export interface Used {
  tokens?: number;
  /** Millionths of the currency. */
  costMicros?: number;
  /** Absent too when several were told: then the cost is the sum of the bare numbers. */
  currency?: string;
}

/** A total of a session as it is told again and again. */
interface Total {
  /** What it was when the execution began. */
  start: number;
  /** The greatest so far. */
  latest: number;
  /** Whether this execution has told it. */
  isTold: boolean;
}

/** State of the count; plain JSON, kept with the run. */
export interface Meter {
  /** Names the session that totals belong to; a digest, for an agent may put anything into its identifiers. */
  session?: string;
  /** Tokens and millionths of executions that are over. */
  past: { tokens: number; micros: number };
  tokens: Total;
  micros: Total;
  /** Sum of the turns of this execution, and the fullest context in it. */
  turns: number;
  context: number;
  /** What has been told at all. */
  knows: { tokens: boolean; cost: boolean };
  /** Of the latest total; null: none that we know as one. */
  currency?: string | null;
  /** Whether there were several. */
  isMixed?: boolean;
  /** What a broker has counted, all executions together: exact, so that what agents tell does not count beside it. */
  counted?: CountedCall;
}

/** Tokens and, where prices are known, millionths of a currency. */
export interface CountedCall {
  tokens: number;
  micros?: number;
  currency?: string;
}

const NOTHING: Total = { start: 0, latest: 0, isTold: false };

/** The count of a run of which nothing has been told. */
export const NEW_METER: Meter = {
  past: { tokens: 0, micros: 0 },
  tokens: NOTHING,
  micros: NOTHING,
  turns: 0,
  context: 0,
  knows: { tokens: false, cost: false },
};

/** More than any session uses; a number beyond it is no count, and is not taken for one. */
const TOKENS_MAX = 1e12;
const COST_MAX = 1e9;
const MICROS = 1_000_000;

/**
 * Whether a text is a code of ISO 4217, or `credits` and the like; short enough never to be a secret that is injected
 * into a run.
 */
export function isCurrency(text: string): boolean {
  return /^[A-Za-z]{1,7}$/.test(text);
}

/** The count as it goes on when an execution has opened its session. */
export function sessionOpened(meter: Meter, sessionId: string): Meter {
  const session = createHash('sha256').update(sessionId).digest('hex').slice(0, 16);
  const isSame = session === meter.session;
  const next = ({ latest }: Total): Total => (isSame ? { start: latest, latest, isTold: false } : NOTHING);
  const past = {
    tokens: summed(meter.past.tokens, tokensNow(meter)),
    micros: summed(meter.past.micros, grown(meter.micros)),
  };
  return { ...meter, session, past, tokens: next(meter.tokens), micros: next(meter.micros), turns: 0, context: 0 };
}

/** The count after a telling. */
export function addUsage(meter: Meter, { sessionTokens, turnTokens, contextTokens, cost }: UsageReport): Meter {
  const [session, turn, context] = [count(sessionTokens), count(turnTokens), count(contextTokens)];
  const counted: Meter = {
    ...meter,
    tokens: session === undefined ? meter.tokens : reported(meter.tokens, session),
    turns: turn === undefined ? meter.turns : summed(meter.turns, turn),
    context: context === undefined ? meter.context : Math.max(meter.context, context),
    knows: {
      ...meter.knows,
      tokens: meter.knows.tokens || [session, turn, context].some((known) => known !== undefined),
    },
  };
  return cost === undefined ? counted : withCost(counted, cost);
}

/** The count after a call that a broker has counted; `before`: what was known of the run when its execution began. */
export function addCounted(meter: Meter, call: CountedCall, before: Used): Meter {
  const sum = meter.counted ?? { tokens: before.tokens ?? 0 };
  const counted: CountedCall = { ...sum, tokens: summed(sum.tokens, call.tokens) };
  if (call.micros === undefined) return { ...meter, counted };
  const micros = summed(sum.micros ?? before.costMicros ?? 0, call.micros);
  return { ...meter, counted: { ...counted, micros, currency: call.currency } };
}

/** What the run has used, all executions together. */
export function usedBy(meter: Meter): Used {
  const { counted } = meter;
  const isPriced = counted?.micros !== undefined;
  const currency = isPriced ? counted.currency : meter.isMixed === true ? undefined : (meter.currency ?? undefined);
  return {
    ...(counted !== undefined
      ? { tokens: counted.tokens }
      : meter.knows.tokens
        ? { tokens: summed(meter.past.tokens, tokensNow(meter)) }
        : {}),
    ...(isPriced
      ? { costMicros: Math.round(counted.micros ?? 0) }
      : meter.knows.cost
        ? { costMicros: summed(meter.past.micros, grown(meter.micros)) }
        : {}),
    ...(currency === undefined ? {} : { currency }),
  };
}

/** The count as it was stored. */
export function readMeter(stored: string | null | undefined): Meter {
  return stored === null || stored === undefined ? NEW_METER : (JSON.parse(stored) as Meter);
}

function withCost(meter: Meter, { amount, currency }: NonNullable<UsageReport['cost']>): Meter {
  if (!Number.isFinite(amount) || amount < 0 || amount > COST_MAX) return meter;
  const unit = isCurrency(currency) ? currency : null;
  const micros = Math.round(amount * MICROS);
  const knows = { ...meter.knows, cost: true };
  if (!meter.knows.cost || meter.currency === unit)
    return { ...meter, micros: reported(meter.micros, micros), knows, currency: unit };
  // A total in another currency is another total: what was told before stays counted.
  const past = { ...meter.past, micros: summed(meter.past.micros, grown(meter.micros)) };
  return { ...meter, past, micros: { start: 0, latest: micros, isTold: true }, knows, currency: unit, isMixed: true };
}

function reported(total: Total, value: number): Total {
  // An agent whose first word after a restart is less than it was counts anew; later on, a smaller number is an old
  // one.
  if (!total.isTold && value < total.start) return { start: 0, latest: value, isTold: true };
  return { start: total.start, latest: Math.max(total.latest, value), isTold: true };
}

function grown({ start, latest }: Total): number {
  return latest - start;
}

function tokensNow({ tokens, turns, context }: Meter): number {
  return Math.max(grown(tokens), turns, context);
}

function count(value: number | undefined): number | undefined {
  return value === undefined || !Number.isFinite(value) || value < 0 || value > TOKENS_MAX
    ? undefined
    : Math.floor(value);
}

/** Stays a number that a database and JSON hold exactly. */
function summed(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}
