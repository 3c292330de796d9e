/** What the gate of the accepting path measures in pairs: one load on the bare server, and the same on the service. */
import { CONNECTIONS } from './accept.ts';
import type { Server } from '../bench.ts';
import { quantile } from '../figures/figures.ts';
import { secondsOf, unwanted, type LoadGenerator, type LoadOrder, type Measured } from '../loads/loads.ts';
import { bytesWrittenBy, familyOf } from '../figures/process-times.ts';
import type { SeededService } from '../seeds/seeded-service.ts';
import type { AcceptedSender, BuildStatus, Sender, Target } from '../loads/senders.ts';

/** Requests of a load: enough for a tenth of a second of processor time, few enough for the rate of a webhook. */
const COUNT = { accepted: 3_000, refused: 6_000, logged: 3_000, large: 200 };
/** Bare gets more of what takes us longer, so that its time is not too short to be measured. */
const BARE_SHARE = 2;
/** Requests that bring a webhook or an address over what it may. */
const SPENDING = 200;
/** 20 failures a minute for a webhook and an address are answered 401: with so many none gets there. */
const ADDRESSES = 64;
/**
 * Wrong tokens beyond 60 in a minute and webhook, which one entry of the log counts: so many webhooks, so many requests
 * before each load that all of theirs are counted, and so many addresses that the loads of a minute are answered 401.
 */
const COUNTED = { webhooks: 64, spends: 4_400, addresses: 250 };
/** Different large bodies, each to another webhook: a body that is too large takes a place of the rate as well. */
const LARGE_DISTINCT = 64;
/** Webhooks that nothing is accepted by: two that are over what they may, those of large bodies, those that count. */
const RESERVED = 2 + LARGE_DISTINCT + COUNTED.webhooks;
/** Different requests to who looks at none of them. */
const BARE_DISTINCT = 256;
const HALF_SECONDS = 1.5;
/** No load takes longer. */
const SECONDS_MAX = 30;
/** Below the 60 in a minute that a webhook takes. */
const EACH_A_MINUTE_MAX = 55;
const MINUTE_MS = 60_000;
/** Answers before which a delivery has taken a place of what its webhook may be sent in a minute. */
const TAKES_OF_THE_RATE = ['202', '401'];

/** By which bound it is judged. */
export type ItemKind = 'token' | 'signature' | 'withoutRun' | 'refused' | 'tooLarge';

/** One kind of request, and how it is answered. */
export interface Item {
  name: string;
  kind: ItemKind;
  status: string;
  sender: Sender;
  targets: readonly Target[];
  count: number;
  /** `failed` starts a run. */
  reportOf?: BuildStatus;
  addresses?: number;
  distinct?: number;
  /** Requests before each load: they use up what may be sent, or what has an entry of its own. */
  spends?: number;
}

/** What can be accepted of these senders, and without a run. */
export function acceptedItems({ targets }: Pick<SeededService, 'targets'>, senders: readonly AcceptedSender[]): Item[] {
  const accepted = (sender: AcceptedSender): Item => ({
    name: sender,
    kind: sender === 'token' || sender === 'url_token' ? 'token' : 'signature',
    status: '202',
    sender,
    targets: targets[sender].slice(sender === 'token' ? RESERVED : 0),
    count: COUNT.accepted,
  });
  return [
    ...senders.map(accepted),
    { ...accepted('token'), name: 'token, no run', kind: 'withoutRun', reportOf: 'passed' },
  ];
}

/** Every kind of refusal. */
export function refusedItems({ targets: { token } }: Pick<SeededService, 'targets'>): Item[] {
  const others = token.slice(RESERVED);
  const refused = { kind: 'refused', sender: 'token', count: COUNT.refused } as const;
  const unknown = token.map(({ path, secret }) => ({ path: path.replace(/....$/, '0000'), secret }));
  return [
    { ...refused, name: '404 unknown webhook', status: '404', targets: unknown },
    {
      ...refused,
      name: '401 wrong token',
      status: '401',
      sender: 'wrong_token',
      targets: others,
      addresses: ADDRESSES,
      count: COUNT.logged,
    },
    {
      ...refused,
      name: '401 that an entry counts',
      status: '401',
      sender: 'wrong_token',
      targets: token.slice(RESERVED - COUNTED.webhooks, RESERVED),
      addresses: COUNTED.addresses,
      count: COUNT.logged,
      spends: COUNTED.spends,
    },
    { ...refused, name: '429 over the rate', status: '429', targets: token.slice(0, 1), spends: SPENDING },
    {
      ...refused,
      name: '429 after wrong tokens',
      status: '429',
      sender: 'wrong_token',
      targets: token.slice(1, 2),
      spends: SPENDING,
    },
    { ...refused, name: '421 wrong Host', status: '421', sender: 'wrong_host', targets: others },
    {
      name: '413 body of 256 KiB + 1',
      kind: 'tooLarge',
      status: '413',
      sender: 'too_large',
      targets: token.slice(2, 2 + LARGE_DISTINCT),
      count: COUNT.large,
      distinct: LARGE_DISTINCT,
    },
  ];
}

/** A load on the service, with what its database took. */
export interface OwnLoad extends Measured {
  postgresMicros: number;
  bytesWritten: number;
  postgresBytesWritten: number;
}

export interface Pair {
  bare: Measured;
  own: OwnLoad;
}

export interface Driver {
  own(item: Item, pace?: { perSecond: number }): Promise<OwnLoad>;
  /** The bare server, and directly behind it the service. */
  pair(item: Item): Promise<Pair>;
  /** Both at half of what they did in these. */
  half(item: Item, pairs: readonly Pair[]): Promise<Pair>;
}

/** The processes that are measured, and who drives them. */
interface Driven {
  generator: LoadGenerator;
  service: Server;
  bare: Server;
  /** Of PostgreSQL. */
  postmaster: number | undefined;
  /** What webhooks have been sent in the last minute, which a restart of the service does not forget. */
  rates: MinuteRates;
}

export function newDriver({ generator, service, bare, postmaster, rates }: Driven): Driver {
  const own: Driver['own'] = async (item, pace) => {
    const order = orderOf(item, service.port, pace);
    const { spends } = item;
    if (spends !== undefined) await generator.drive({ ...order, count: spends, distinct: spends }, [service.pid]);
    else if (TAKES_OF_THE_RATE.includes(item.status)) await rates.wait(item.targets, order.count);
    const family = postmaster === undefined ? [] : familyOf(postmaster);
    const before = { seconds: secondsOf(family), bytes: bytesOf([service.pid]), postgres: bytesOf(family) };
    const load = await generator.drive(order, [service.pid]);
    return {
      ...load,
      postgresMicros: ((secondsOf(family) - before.seconds) * 1e6) / Math.max(1, load.requests),
      bytesWritten: bytesOf([service.pid]) - before.bytes,
      postgresBytesWritten: bytesOf(family) - before.postgres,
    };
  };
  const beside = (item: Item, pace?: { perSecond: number }): Promise<Measured> => {
    const count = item.kind === 'refused' || item.kind === 'tooLarge' ? item.count : item.count * BARE_SHARE;
    const distinct = Math.min(item.distinct ?? BARE_DISTINCT, BARE_DISTINCT);
    return generator.drive(orderOf({ ...item, count, distinct }, bare.port, pace), [bare.pid]);
  };
  return {
    own,
    pair: async (item) => ({ bare: await beside(item), own: await own(item) }),
    half: async (item, pairs) => ({
      bare: await beside(item, {
        perSecond:
          quantile(
            pairs.map((pair) => pair.bare.perSecond),
            0.5,
          ) / 2,
      }),
      own: await own(item, {
        perSecond:
          quantile(
            pairs.map((pair) => pair.own.perSecond),
            0.5,
          ) / 2,
      }),
    }),
  };
}

/** At a pace it lasts a while; else it is over with its requests. */
function orderOf(item: Item, port: number, pace: { perSecond: number } | undefined): LoadOrder {
  const { sender, targets, addresses = 1, reportOf } = item;
  const count = pace === undefined ? item.count : Math.ceil(pace.perSecond * HALF_SECONDS);
  return {
    port,
    sender,
    targets,
    from: 0,
    connections: CONNECTIONS,
    count,
    secondsMax: SECONDS_MAX,
    perSecond: pace?.perSecond,
    addresses,
    distinct: item.distinct ?? count,
    reportOf,
  };
}

const bytesOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + bytesWrittenBy(pid), 0);

/** Waits where a load would bring its webhooks over their rate. */
export class MinuteRates {
  private sent: { uid: string; atMs: number; each: number }[] = [];

  async wait(targets: readonly Target[], count: number): Promise<void> {
    const uid = targets.at(-1)?.path ?? '';
    const each = Math.min(EACH_A_MINUTE_MAX, Math.ceil(count / targets.length));
    for (;;) {
      this.sent = this.sent.filter(({ atMs }) => atMs > performance.now() - MINUTE_MS);
      const own = this.sent.filter((one) => one.uid === uid);
      if (own.reduce((sum, one) => sum + one.each, each) <= EACH_A_MINUTE_MAX) break;
      await new Promise((resolve) => setTimeout(resolve, (own[0]?.atMs ?? 0) + MINUTE_MS - performance.now() + 1));
    }
    this.sent.push({ uid, atMs: performance.now(), each });
  }
}

export async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < times) results.push(await work());
  return results;
}

/** Loads of an item so far. */
export interface Account {
  item: Item;
  pairs: Pair[];
  halves: Pair[];
}

export const accountOf = (item: Item): Account => ({ item, pairs: [], halves: [] });

export interface MeasuredItem {
  item: Item;
  /** Lower quartiles of the rounds. */
  micros: number;
  bareMicros: number;
  ratio: number;
  postgresMicros: number;
  medianRatio: number;
  /** Of accepted ones: medians at half load. */
  half: { perSecond: number; p99Ms: number; bareP99Ms: number; ratio: number } | undefined;
  /** Answers other than the expected ones, in words. */
  unwanted: string | undefined;
}

export function measureItem({ item, pairs, halves }: Account): MeasuredItem {
  const of = (figure: (pair: Pair) => number, share = 0.25): number => quantile(pairs.map(figure), share);
  const ratio = ({ own, bare }: Pair): number => own.cpuMicros / bare.cpuMicros;
  const atHalf = (figure: (pair: Pair) => number): number => quantile(halves.map(figure), 0.5);
  const [p99Ms, bareP99Ms] = [atHalf(({ own }) => own.p99Ms), atHalf(({ bare }) => bare.p99Ms)];
  return {
    item,
    micros: of(({ own }) => own.cpuMicros),
    bareMicros: of(({ bare }) => bare.cpuMicros),
    ratio: of(ratio),
    medianRatio: of(ratio, 0.5),
    postgresMicros: of(({ own }) => own.postgresMicros),
    half:
      halves.length === 0
        ? undefined
        : { perSecond: atHalf(({ own }) => own.perSecond), p99Ms, bareP99Ms, ratio: p99Ms / bareP99Ms },
    unwanted: unwanted(
      [...pairs, ...halves].map(({ own }) => own),
      item.status,
    ),
  };
}
