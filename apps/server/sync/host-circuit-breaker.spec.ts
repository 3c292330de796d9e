/**
 * Factories of one git host: who asks while it is away, who finds out that it is back, who is left alone. contract §9.
 */
import { jest } from '@jest/globals';
import { HostCircuitBreaker } from './host-circuit-breaker.ts';
import type { GitAddress } from './sources/git/git-urls.ts';
import { failure, type Snapshot, type Source } from './sources/source.ts';

const GOOD: Snapshot = { ok: true, revision: 'main@sha1:0', unchanged: true };
const AWAY: Snapshot = { ...failure('unreachable', 'https://git.example.com/secret-repository: away'), ofHost: true };
const never = new AbortController().signal;

let asked: string[];
let woken: string[];
let answers: Map<string, Snapshot | Promise<Snapshot>>;
let pace: HostCircuitBreaker;

beforeEach(() => {
  jest.useFakeTimers();
  [asked, woken, answers] = [[], [], new Map()];
  pace = new HostCircuitBreaker({ nowMs: Date.now, monotonicMs: Date.now, random01: () => 0.5 });
});

afterEach(() => jest.useRealTimers());

/** A factory whose pass runs when it is woken, as its loop does. */
function factory(
  name: string,
  host = 'git.example.com',
  protocol: GitAddress['protocol'] = 'https',
  url = `${protocol}://${host}/${name}`,
): Source & { look(): Promise<Snapshot> } {
  const source = pace.paced(
    { snapshot: async () => (asked.push(name), answers.get(name) ?? GOOD), close: async () => undefined },
    { protocol, host, url },
  );
  const look = (): Promise<Snapshot> => source.snapshot({}, never);
  source.onRecovered?.(() => {
    woken.push(name);
    void look();
  });
  return { ...source, look };
}

/** A factory whose passes come by themselves: every minute, after failures ever more seldom. */
function loop(source: Source): { failures: number; successes: number; isWell(): boolean } {
  let [inARow, isReading, timer] = [0, false, undefined as NodeJS.Timeout | undefined];
  const counts = { failures: 0, successes: 0, isWell: () => inARow === 0 };
  const run = async (): Promise<void> => {
    if (isReading) return;
    clearTimeout(timer);
    isReading = true;
    const { ok } = await source.snapshot({}, never);
    isReading = false;
    inARow = ok ? 0 : inARow + 1;
    counts[ok ? 'successes' : 'failures'] += 1;
    timer = setTimeout(() => void run(), ok ? 60_000 : Math.min(300_000, 1_000 * 2 ** (inARow - 1)));
  };
  source.onRecovered?.(() => void run());
  void run();
  return counts;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `f${at}`);

async function away(count: number): Promise<ReturnType<typeof factory>[]> {
  const factories = names(count).map((name) => factory(name));
  for (const name of names(count)) answers.set(name, AWAY);
  for (const each of factories) await each.look();
  return factories;
}

describe('a host that does not answer', () => {
  it(
    'is asked by two factories, and by no further one; they end with the same reason and without the address of ' +
      'another',
    async () => {
      const factories = await away(5);
      expect(asked).toEqual(['f0', 'f1']);
      const [, , held] = factories;
      const snapshot = await held?.look();
      expect(snapshot).toMatchObject({
        ok: false,
        reason: 'unreachable',
        message: expect.stringMatching(/git\.example\.com does not answer and is backed off until \d{4}-.*Z/),
      });
      expect(JSON.stringify(snapshot)).not.toContain('secret-repository');
    },
  );

  it('is tried by one at a time, by turns, ever more seldom', async () => {
    const times: number[] = [];
    await away(4);
    const began = Date.now();
    for (let probes = 0; probes < 6; probes += 1) {
      const before = asked.length;
      while (asked.length === before) await jest.advanceTimersByTimeAsync(100);
      times.push(Math.round((Date.now() - began) / 1000));
    }
    expect(asked.slice(2)).toEqual(['f2', 'f3', 'f0', 'f1', 'f2', 'f3']);
    expect(times).toEqual([1, 3, 7, 15, 31, 63]);
  });

  it('is followed by all of them, one after the other, when one found out that it is back', async () => {
    await away(20);
    asked = [];
    answers.clear();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(100);
    expect(asked.length).toBeLessThan(8);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([...new Set(asked)].sort()).toEqual(names(20).sort());
    await jest.advanceTimersByTimeAsync(600_000);
    expect(asked).toHaveLength(20);
  });

  it('is tried at once when people ask, whose failure counts too', async () => {
    const [, , third] = await away(3);
    third?.bypassBackoff?.();
    expect(await third?.look()).toBe(AWAY);
    expect(asked).toEqual(['f0', 'f1', 'f2']);
    await third?.look();
    expect(asked).toHaveLength(3);
    answers.clear();
    third?.bypassBackoff?.();
    expect(await third?.look()).toBe(GOOD);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(asked).toEqual(expect.arrayContaining(['f0', 'f1']));
  });

  it('is one failure when several asked side by side', async () => {
    const factories = names(5).map((name) => factory(name));
    for (const name of names(5)) answers.set(name, AWAY);
    await Promise.all(factories.map((each) => each.look()));
    expect(asked).toHaveLength(5);
    await jest.advanceTimersByTimeAsync(1_050);
    expect(asked).toHaveLength(6); // after one second, not after sixteen
  });

  it('is not the fault of its other protocol, nor of another host', async () => {
    await away(3);
    for (const other of [
      factory('ssh', 'git.example.com', 'ssh'),
      factory('port', 'git.example.com:8443'),
      factory('local', '', 'file'),
    ])
      expect(await other.look()).toBe(GOOD);
  });

  it('is found by another when the one that was woken does not ask', async () => {
    const [first, second, third] = await away(3);
    void third;
    asked = [];
    for (const idle of [first, second]) idle?.onRecovered?.(() => woken.push('idle'));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual(['f2']);
    await jest.advanceTimersByTimeAsync(4_000 + 3_000);
    expect(woken.filter((name) => name === 'idle').length).toBeGreaterThan(1);
    expect(asked.length).toBeGreaterThan(1);
  });
});

describe('a repository that its host cannot serve', () => {
  it('holds up no other factory of the host', async () => {
    const [broken, other] = [factory('broken'), factory('other')];
    answers.set('broken', AWAY);
    for (let time = 0; time < 5; time += 1) {
      broken.bypassBackoff?.();
      expect(await broken.look()).toBe(AWAY);
      expect(await other.look()).toBe(GOOD);
    }
  });

  it('makes no other factory fail again once the host is known to answer them, however many are broken', async () => {
    const [broken, well] = [
      names(2).map((name) => loop(factory(name))),
      ['well0', 'well1', 'well2'].map((name) => loop(factory(name))),
    ];
    for (const name of names(2)) answers.set(name, AWAY);
    await jest.advanceTimersByTimeAsync(600_000);
    const heldAtFirst = well.map(({ failures }) => failures);
    await jest.advanceTimersByTimeAsync(2 * 3_600_000);
    expect(well.map(({ failures }) => failures)).toEqual(heldAtFirst);
    expect(Math.max(...heldAtFirst)).toBeLessThanOrEqual(2);
    for (const { successes } of well) expect(successes).toBeGreaterThan(120);
    for (const { successes } of broken) expect(successes).toBe(0);
    for (const name of names(2)) {
      const tried = asked.filter((each) => each === name).length;
      expect(tried).toBeGreaterThan(24); // still, every five minutes
      expect(tried).toBeLessThan(50); // by its own back-off
    }

    answers = new Map(['f0', 'f1', 'well0', 'well1', 'well2'].map((name) => [name, AWAY]));
    await jest.advanceTimersByTimeAsync(600_000);
    asked = [];
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(asked.length).toBeLessThan(20); // the host itself is away: one asks every five minutes
    answers.clear();
    await jest.advanceTimersByTimeAsync(360_000);
    expect(new Set(asked)).toEqual(new Set(['f0', 'f1', 'well0', 'well1', 'well2']));
    for (const { isWell } of [...broken, ...well]) expect(isWell()).toBe(true);
  });

  it('counts once, however many factories follow it', async () => {
    const broken = names(3).map((name) => factory(name, undefined, undefined, 'https://git.example.com/broken'));
    for (const name of names(3)) answers.set(name, AWAY);
    for (const each of broken) expect(await each.look()).toMatchObject({ ok: false });
    expect(await factory('other').look()).toBe(GOOD);
  });

  it('is trusted again once it was answered', async () => {
    const [first, second, third] = await away(3);
    answers.delete('f2');
    await jest.advanceTimersByTimeAsync(1_000); // f2 is answered, f0 and f1 are doubted
    answers.clear();
    await first?.look();
    await second?.look();
    for (const name of names(2)) answers.set(name, AWAY);
    asked = [];
    for (const each of [first, second, third]) await each?.look();
    expect(asked).toEqual(['f0', 'f1']);
  });

  it.each(['denied', 'branch-missing', 'repository-missing'] as const)('says %s: the host is there', async (reason) => {
    const [first] = await away(3);
    answers.set('f0', failure(reason, ''));
    first?.bypassBackoff?.();
    await first?.look();
    answers.clear();
    await jest.advanceTimersByTimeAsync(500);
    expect(asked).toEqual(expect.arrayContaining(['f1', 'f2']));
  });

  it.each(['timeout', 'corrupt', 'disk', 'refused'] as const)(
    'ends with %s after its host answered: that says nothing about the host',
    async (reason) => {
      const [first, second] = [factory('f0'), factory('f1')];
      answers.set('f0', failure(reason, ''));
      await first.look();
      await second.look();
      await second.look();
      expect(asked).toEqual(['f0', 'f1', 'f1']);
    },
  );
});

describe('the readings of a host', () => {
  it('are six at a time; one that waits leaves when it is called off or closed, people do not wait', async () => {
    let finish = (): void => undefined;
    const hanging = new Promise<Snapshot>((resolve) => (finish = () => resolve(GOOD)));
    const factories = names(9).map((name) => factory(name));
    for (const name of names(8)) answers.set(name, hanging);
    const reading = factories.slice(0, 8).map((each) => each.look());
    await jest.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(6);
    await factories[6]?.close();
    expect(await reading[6]).toMatchObject({ ok: false, reason: 'timeout' });
    factories[8]?.bypassBackoff?.();
    expect(await factories[8]?.look()).toBe(GOOD);
    finish();
    await Promise.all(reading);
    expect(asked).toHaveLength(8);
    expect(await factories[0]?.look()).toBe(GOOD);
  });

  it('that are called off say nothing about it', async () => {
    const calling = new AbortController();
    const [first, second] = [factory('f0'), factory('f1')];
    answers.set(
      'f0',
      Promise.resolve().then(() => (calling.abort(), AWAY)),
    );
    await first.snapshot({}, calling.signal);
    await second.look();
    await second.look();
    expect(asked).toEqual(['f0', 'f1', 'f1']);
  });

  it('leave nothing behind when the last source of the host is closed', async () => {
    const factories = await away(3);
    await Promise.all(factories.map((each) => each.close()));
    expect(jest.getTimerCount()).toBe(0);
    expect(pace['hosts'].size).toBe(0);
  });
});
