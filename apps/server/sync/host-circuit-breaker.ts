/**
 * Which git hosts do not answer at the moment: their factories share a back-off, and one at a time finds out when they
 * are back. contract §9.
 */
import { followDelayMs, mayAskHost, outageAfter, type HostOutage } from '#reconcile';
import type { GitAddress } from './sources/git/git-urls.ts';
import {
  failure,
  type RefMissing,
  type RefReading,
  type Snapshot,
  type Source,
  type SourceFailure,
  type SourceFailureReason,
} from './sources/source.ts';

/** Readings of one host at once: a host that hangs leaves some of the git processes (at most 8) to the others. */
const READINGS_MAX = 6;
/**
 * When the factory that was woken to find out did not ask (suspended, held by another replica), another one is woken
 * after this time.
 */
const NEXT_PROBE_MS = 1_000;

/** Endings of a reading that only a host which answers can give. */
const ANSWERS: ReadonlySet<string> = new Set([
  'denied',
  'branch-missing',
  'path-missing',
  'repository-missing',
  'empty',
  'source-unverified',
  'ref-unknown',
  'ref-ambiguous',
] satisfies (SourceFailureReason | RefMissing['reason'] | 'source-unverified')[]);

export interface CircuitBreakerClock {
  nowMs(): number;
  monotonicMs(): number;
  random01(): number;
}

/** A factory that reads from a host. */
interface Member {
  /** Its repository: factories of one that is broken fail together. */
  url: string;
  wake?: () => void;
  atOnce: boolean;
  /** Why its readings failed in this outage: it is said again while the host is left alone, because nothing is new. */
  reason?: SourceFailureReason;
  /** It failed while its host answered others, and was not answered since: its repository may be what is broken. */
  isSuspect: boolean;
}

interface Host {
  name: string;
  members: Set<Member>;
  outage?: HostOutage;
  reason: SourceFailureReason;
  probing: boolean;
  /** Those that failed in this outage. */
  failed: Set<Member>;
  /** Those that want to be told that it is back; who failed last stands last. */
  waiting: Set<Member>;
  readings: number;
  queue: Set<() => void>;
  timer?: NodeJS.Timeout;
}

/** The pace of one process towards the git hosts of its factories. Holds nothing of hosts that no open source names. */
export class HostCircuitBreaker {
  private readonly hosts = new Map<string, Host>();
  private readonly clock: CircuitBreakerClock;

  constructor(clock: CircuitBreakerClock) {
    this.clock = clock;
  }

  /**
   * The source, asking its host no more often than all factories of the host together may. Local repositories have no
   * host.
   */
  paced(source: Source, { protocol, host: name, url }: GitAddress): Source {
    if (name === '') return source;
    const key = `${protocol}://${name}`;
    const host = this.hosts.get(key) ?? {
      name,
      members: new Set(),
      reason: 'unreachable',
      probing: false,
      failed: new Set(),
      waiting: new Set(),
      readings: 0,
      queue: new Set(),
    };
    this.hosts.set(key, host);
    const member: Member = { url, atOnce: false, isSuspect: false };
    host.members.add(member);
    const closing = new AbortController();
    const { atRef } = source;
    return {
      ...source,
      snapshot: (known, signal) =>
        this.readInSlot(host, member, [signal, closing.signal], () => source.snapshot(known, signal)),
      ...(atRef && {
        atRef: (ref, isKnown, signal) =>
          this.readInSlot(host, member, [signal, closing.signal], () => atRef(ref, isKnown, signal)),
      }),
      bypassBackoff: () => void (member.atOnce = true),
      onRecovered: (wake) => void (member.wake = wake),
      close: async () => {
        closing.abort();
        host.members.delete(member);
        host.waiting.delete(member);
        host.failed.delete(member);
        if (host.members.size === 0) this.forget(key, host);
        await source.close();
      },
    };
  }

  private forget(key: string, host: Host): void {
    clearTimeout(host.timer);
    if (this.hosts.get(key) === host) this.hosts.delete(key);
  }

  /** Takes one of the host's places and only then decides: what happened while it waited counts. */
  private async readInSlot<Reading extends Snapshot | RefReading>(
    host: Host,
    member: Member,
    signals: readonly AbortSignal[],
    read: () => Promise<Reading>,
  ): Promise<Reading | SourceFailure> {
    const { atOnce } = member;
    member.atOnce = false;
    const takesPlace = !atOnce;
    if (takesPlace && !(await place(host, signals))) return failure('timeout', 'the reading was called off');
    try {
      const verdict = mayAskHost(host.outage, {
        probing: host.probing,
        atOnce,
        failed: hasFailed(host, member),
        distinctFailures: distinctFailuresOf(host),
        nowMs: this.clock.monotonicMs(),
      });
      return verdict === 'wait'
        ? this.heldUp(host, member)
        : await this.ask(host, member, verdict === 'probe', signals, read);
    } finally {
      if (takesPlace) leave(host);
    }
  }

  private heldUp(host: Host, member: Member): SourceFailure {
    host.waiting.add(member);
    member.reason ??= host.reason;
    const untilMs = this.clock.nowMs() + Math.max(0, (host.outage?.askAgainAtMs ?? 0) - this.clock.monotonicMs());
    return failure(
      member.reason,
      `the git host ${host.name} does not answer and is backed off until ${new Date(untilMs).toISOString()}; ` +
        'then one factory finds out and the others follow. A sync that you ask for tries it at once',
    );
  }

  private async ask<Reading extends Snapshot | RefReading>(
    host: Host,
    member: Member,
    isProbe: boolean,
    signals: readonly AbortSignal[],
    read: () => Promise<Reading>,
  ): Promise<Reading> {
    if (isProbe) host.probing = true;
    const askedAtMs = this.clock.monotonicMs();
    try {
      const snapshot = await read();
      if (!signals.some(({ aborted }) => aborted)) this.learn(host, member, askedAtMs, snapshot);
      return snapshot;
    } finally {
      if (isProbe) host.probing = false;
    }
  }

  /** A reading that failed half-way says nothing about the host: it may be the repository's own fault. */
  private learn(host: Host, member: Member, askedAtMs: number, snapshot: Snapshot | RefReading): void {
    if (!snapshot.ok && 'ofHost' in snapshot && snapshot.ofHost === true)
      return this.isAway(host, member, askedAtMs, snapshot.reason);
    if (snapshot.ok || ANSWERS.has(snapshot.reason)) this.isBack(host, member);
  }

  private isAway(host: Host, member: Member, askedAtMs: number, reason: SourceFailureReason): void {
    if (host.outage === undefined && member.isSuspect) return; // it backs off by itself, and holds up nobody
    host.outage = outageAfter(host.outage, {
      askedAtMs,
      nowMs: this.clock.monotonicMs(),
      random01: this.clock.random01(),
    });
    host.reason = reason;
    member.reason = reason;
    host.failed.add(member);
    host.waiting.delete(member);
    host.waiting.add(member);
    this.wakeIn(host, host.outage.askAgainAtMs - this.clock.monotonicMs());
  }

  private isBack(host: Host, member: Member): void {
    host.waiting.delete(member);
    member.isSuspect = false;
    if (host.outage === undefined) return;
    host.outage = undefined;
    for (const each of host.failed) each.isSuspect ||= each !== member;
    host.failed.clear();
    for (const each of host.members) each.reason = undefined;
    this.wakeIn(host, followDelayMs(this.clock.random01()));
  }

  private wakeIn(host: Host, delayMs: number): void {
    clearTimeout(host.timer);
    if (host.members.size === 0) return;
    host.timer = setTimeout(() => this.wakeNext(host), Math.max(0, delayMs));
    host.timer.unref();
  }

  /** While the host is away, one factory to find out; when it is back, one after the other. */
  private wakeNext(host: Host): void {
    const next = nextOf(host);
    if (next === undefined) return;
    const isAway = host.outage !== undefined;
    if (isAway && host.probing) return this.wakeIn(host, NEXT_PROBE_MS);
    host.waiting.delete(next);
    if (isAway) host.waiting.add(next);
    this.wakeIn(host, isAway ? NEXT_PROBE_MS : followDelayMs(this.clock.random01()));
    next.wake?.();
  }
}

function hasFailed({ failed }: Host, member: Member): boolean {
  return member.isSuspect || failed.has(member);
}

/** Repositories whose failure speaks against the host: not those that failed while it answered others. */
function distinctFailuresOf({ failed }: Host): number {
  return new Set([...failed].flatMap(({ url, isSuspect: isDoubted }) => (isDoubted ? [] : [url]))).size;
}

/** Rather one that did not fail itself: its repository may be one that the host can serve. */
function nextOf(host: Host): Member | undefined {
  const [first] = host.waiting;
  return first !== undefined && hasFailed(host, first)
    ? ([...host.waiting].find((member) => !hasFailed(host, member)) ?? first)
    : first;
}

/** Waits for a place; false when it was called off before. */
async function place(host: Host, signals: readonly AbortSignal[]): Promise<boolean> {
  const isCalledOff = (): boolean => signals.some(({ aborted }) => aborted);
  if (isCalledOff()) return false;
  if (host.readings < READINGS_MAX) {
    host.readings += 1;
    return true;
  }
  return new Promise((resolve) => {
    const end = (isTaken: boolean): void => {
      host.queue.delete(take);
      for (const signal of signals) signal.removeEventListener('abort', giveUp);
      resolve(isTaken);
    };
    const take = (): void => end(true);
    const giveUp = (): void => end(false);
    host.queue.add(take);
    for (const signal of signals) signal.addEventListener('abort', giveUp, { once: true });
  });
}

function leave(host: Host): void {
  const [next] = host.queue;
  if (next === undefined) host.readings -= 1;
  else next();
}
