/**
 * Many senders at once that behave as real ones do: who got no answer, or a 5xx, sends the same again, perhaps to
 * another replica; some send twice at once, and again after a 202.
 */
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from '../ledger/ledger.ts';

/** Something to be delivered. */
export interface Parcel {
  webhookUid: string;
  deliveryId: string;
  body: string;
  token: string;
}

export interface SendersOptions {
  /** Numbers in [0, 1): who is chosen, who sends twice. */
  random(): number;
  senders: number;
  /** Base URLs of the replicas that may be asked now; none: wait. */
  bases(): readonly string[];
  /** Told of every attempt when it is over. */
  onAttempt?(attempt: Attempt): void;
}

/** Milliseconds between an attempt that failed and the next. */
const PAUSE_MS_MAX = 120;
/** Nobody waits longer for an answer: then it is as if the connection had broken. */
const ANSWER_MS_MAX = 5_000;
/** Of deliveries: sent twice at the same time; sent once more after a 202. */
const TWINS = 0.1;
const RESENDS = 0.15;

/**
 * Sends all parcels; resolves when each has a final answer. A 4xx is final. `untilMs`: performance.now() after which it
 * fails.
 */
export async function sendAll(
  parcels: readonly Parcel[],
  options: SendersOptions,
  untilMs: number,
): Promise<Attempt[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.senders * 2 });
  const attempts: Attempt[] = [];
  const left = [...parcels];
  const attempt = async (parcel: Parcel): Promise<number | undefined> => {
    const bases = options.bases();
    if (bases.length === 0) return undefined;
    const made: Attempt = {
      webhookUid: parcel.webhookUid,
      deliveryId: parcel.deliveryId,
      status: await post(agent, bases[Math.floor(options.random() * bases.length)] as string, parcel),
    };
    attempts.push(made);
    options.onAttempt?.(made);
    return made.status;
  };
  const deliver = async (parcel: Parcel): Promise<void> => {
    for (let status: number | undefined; !isFinal(status);) {
      if (performance.now() > untilMs)
        throw new Error(`${parcel.deliveryId} got no final answer in time, the last was ${status}`);
      const isTwin = options.random() < TWINS;
      [status] = (await Promise.all([attempt(parcel), ...(isTwin ? [attempt(parcel)] : [])])).sort(finalFirst);
      if (!isFinal(status)) await sleep(options.random() * PAUSE_MS_MAX);
    }
    if (options.random() < RESENDS) await attempt(parcel);
  };
  const sender = async (): Promise<void> => {
    for (let parcel = left.shift(); parcel !== undefined; parcel = left.shift()) await deliver(parcel);
  };
  try {
    await Promise.all(Array.from({ length: options.senders }, sender));
  } finally {
    agent.destroy();
  }
  return attempts;
}

function isFinal(status: number | undefined): boolean {
  return status !== undefined && status < 500;
}

function finalFirst(one: number | undefined, other: number | undefined): number {
  return Number(isFinal(other)) - Number(isFinal(one));
}

function post(
  agent: Agent,
  base: string,
  { webhookUid, deliveryId, body, token }: Parcel,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'x-millwright-delivery-id': deliveryId,
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = httpRequest(`${base}/webhooks/w/${webhookUid}`, {
      agent,
      method: 'POST',
      headers,
      timeout: ANSWER_MS_MAX,
    });
    outgoing.once('response', (answer) => {
      answer.resume();
      answer
        .once('end', () => resolve(answer.statusCode))
        .once('error', () => resolve(undefined))
        .once('close', () => resolve(undefined));
    });
    outgoing
      .once('timeout', () => outgoing.destroy())
      .once('error', () => resolve(undefined))
      .once('close', () => resolve(undefined));
    outgoing.end(body);
  });
}
