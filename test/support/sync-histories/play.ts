/** Plays a random history on a real factory and on a fault-free twin, and checks the invariants after every pass. */
import {
  checkBindings,
  checkCommitted,
  checkDeletions,
  checkExactly,
  checkMoves,
  checkServed,
  checkUids,
  isSound,
  modeOf,
  needsApproval,
  same,
  type Passed,
} from './invariants.ts';
import { essenceOf, withoutPassMetadata, type DatabaseSnapshot } from './database-snapshot.ts';
import { HistoryRepository } from './repository.ts';
import { SECRET_NAMES, type History, type Manner, type Step } from './steps.ts';
import type { HistoryFile, HistoryTree } from './trees.ts';
import { HistoryWorld, markerOf, SECRET_MARKER, type HistoryDatabase, type Replica } from './world.ts';

/** Milliseconds between two steps: every time is another one. */
const STEP_MS = 1_000;
/** Longer than any lease. */
const LEASE_OVER_MS = 31_000;

/** What came of many histories: proof that they were not all quiet. */
export interface Tally {
  passes: number;
  applied: number;
  blocked: number;
  failed: number;
  deletions: number;
  deaths: number;
  takeovers: number;
}

export const newTally = (): Tally => ({
  passes: 0,
  applied: 0,
  blocked: 0,
  failed: 0,
  deletions: 0,
  deaths: 0,
  takeovers: 0,
});

export interface Arena {
  real: HistoryDatabase;
  twin: HistoryDatabase;
  tally: Tally;
}

/** Throws with the invariant that does not hold. */
export async function play(history: History, arena: Arena): Promise<void> {
  await new HistoryRunner(history, arena).play();
}

class HistoryRunner {
  private readonly history: History;
  private readonly arena: Arena;
  private readonly repository: HistoryRepository;
  private readonly real: HistoryWorld;
  /** Only where an accident may tell the two apart. */
  private readonly twin: HistoryWorld | undefined;
  private readonly uids = new Map<string, string>();
  /** Secrets that are there: name → its version, and whether it is granted. */
  private readonly secrets = new Map(SECRET_NAMES.map((name) => [name, { version: 1, granted: true }]));
  private readonly guarded = new Set<string>();
  /** Revisions that may have needed one, because not all of their files could be applied when they were looked at. */
  private readonly doubted = new Set<string>();
  private rotations = 0;

  constructor(history: History, arena: Arena) {
    this.history = history;
    this.arena = arena;
    this.repository = new HistoryRepository(history.webhooks, history.automations, history.applyMode);
    const hasAccidents = history.steps.some(({ next }) => ['dies', 'hiccup', 'stale'].includes(next.pass));
    this.real = new HistoryWorld(arena.real, this.repository);
    this.twin = hasAccidents ? new HistoryWorld(arena.twin, this.repository) : undefined;
  }

  async play(): Promise<void> {
    this.passTime(STEP_MS);
    for (const world of this.worlds()) await world.begin(this.history.fastForwardOnly);
    await this.quiet(0);
    for (const step of this.history.steps) {
      this.passTime(STEP_MS);
      await this.act(step);
      await this.pass(step.next);
    }
    this.repository.outage = undefined;
    await this.quiet(0);
    await this.checkSecrecy();
  }

  private worlds(): HistoryWorld[] {
    return this.twin === undefined ? [this.real] : [this.real, this.twin];
  }

  private passTime(ms: number): void {
    for (const ground of [this.arena.real, this.arena.twin]) ground.clock.nowMs += ms;
  }

  // ---- what people and forges do ----

  private async act(step: Step): Promise<void> {
    switch (step.do) {
      case 'commit':
        return this.repository.commit(step.edits, step.forced);
      case 'outage':
        return this.repository.begin(step.kind);
      case 'back':
        return void (this.repository.outage = undefined);
      case 'wait':
        return this.passTime(step.ms);
      case 'approve':
        return this.approve(step.real);
      case 'suspend':
      case 'resume':
        for (const world of this.worlds())
          await world.stores.factories.setSuspended(
            (await world.readSnapshot()).factory['uid'] as string,
            step.do === 'suspend',
          );
        return;
      case 'nothing':
        return;
      default:
        return this.changeSecret(step.do, SECRET_NAMES[step.secret % SECRET_NAMES.length] as string);
    }
  }

  private async approve(real: boolean): Promise<void> {
    const digest = real ? (await this.real.readSnapshot()).condition.heldDigest : `sha256:${'0'.repeat(64)}`;
    if (digest !== undefined) for (const world of this.worlds()) await world.approve(digest);
  }

  private async changeSecret(what: 'rotate' | 'withdraw' | 'grant' | 'drop' | 'make', name: string): Promise<void> {
    const known = this.secrets.get(name as never);
    if ((known === undefined) !== (what === 'make')) return;
    this.rotations += 1;
    const value = markerOf(name, this.rotations);
    for (const world of this.worlds()) {
      if (what === 'make') await world.makeSecret(name, value);
      if (what === 'rotate') await world.rotate(name, value);
      if (what === 'drop') await world.drop(name);
      if (what === 'grant' || what === 'withdraw') await world.grant(name, what === 'grant');
    }
    if (what === 'drop') this.secrets.delete(name as never);
    else if (known === undefined) this.secrets.set(name as never, { version: 1, granted: true });
    else if (what === 'rotate') known.version += 1;
    else known.granted = what === 'grant';
  }

  // ---- how the pass goes that follows ----

  private async pass(manner: Manner): Promise<void> {
    switch (manner.pass) {
      case 'none':
        return;
      case 'quiet':
        return this.quiet(manner.replica, manner);
      case 'restart':
        for (const world of this.worlds()) await world.restart(manner.replica);
        return this.quiet(manner.replica);
      case 'dies':
        return this.dies(manner.replica, manner.at);
      case 'hiccup':
        return this.hiccup(manner.replica, manner.at);
      case 'stale':
        return this.stale(manner);
    }
  }

  /** Nothing disturbs it. Both worlds then are the same. */
  private async quiet(n: number, how?: Extract<Manner, { pass: 'quiet' }>): Promise<void> {
    for (const world of this.worlds()) await this.undisturbed(world, n, how);
    await this.compare();
  }

  /** The process dies in the middle of passes; the next one is left alone (I10). */
  private async dies(n: number, at: readonly number[]): Promise<void> {
    await this.bringBack();
    for (const call of at) {
      await this.disturbed(n, (replica) => replica.fate.arrange('dies', call));
      this.arena.tally.deaths += 1;
      await this.real.restart(n);
    }
    this.passTime(LEASE_OVER_MS);
    await this.twin?.restart(n);
    await this.waitForPasses(n);
  }

  private async hiccup(n: number, at: number): Promise<void> {
    await this.bringBack();
    await this.disturbed(n, (replica) => replica.fate.arrange('hiccup', at));
    this.replica(n).fate.clear();
    await this.waitForPasses(n);
  }

  /** It stands still while another replica takes over; when it goes on, it writes nothing (I9). */
  private async stale({ replica: n, at, newer }: Extract<Manner, { pass: 'stale' }>): Promise<void> {
    await this.bringBack();
    const other = 1 - n;
    const before = await this.real.readSnapshot();
    await this.replica(n).poll();
    const { isPaused: stands, go } = this.replica(n).fate.injectPause(at);
    const running = this.real.run(n).catch(() => undefined);
    await Promise.race([stands, running]);
    const standing = await this.real.readSnapshot();
    this.check(before, standing);
    if (newer && essence(before) === essence(standing))
      this.repository.commit([{ edit: 'webhook', name: at, secret: 0, enabled: true }], false);
    this.passTime(LEASE_OVER_MS);
    await this.real.endLeases();
    await this.waitForPasses(other);
    const taken = await this.real.readSnapshot();
    go();
    await running;
    this.replica(n).fate.clear();
    const after = await this.real.readSnapshot();
    // Where it stood still before it had a lease, it takes one of its own now.
    if (after.factory['fence'] === taken.factory['fence']) {
      this.arena.tally.takeovers += 1;
      same(
        'I9: a pass that was taken over writes nothing',
        [after.factory['fence'], withoutPassMetadata(after)],
        [taken.factory['fence'], withoutPassMetadata(taken)],
      );
    }
    await this.quiet(n);
  }

  /**
   * A rewriting that waits can only be judged by a process that has seen how it came: an accident during an outage is
   * no matter of convergence then.
   */
  private async bringBack(): Promise<void> {
    const { factory } = await this.real.readSnapshot();
    if (factory['revision_seen'] !== factory['revision_attempted']) this.repository.outage = undefined;
  }

  /**
   * What waited may have applied before the accident or after it. While the source is away, the next pass tells no more
   * than that it is.
   */
  private async waitForPasses(n: number): Promise<void> {
    if (this.repository.outage !== undefined) for (const world of this.worlds()) await this.undisturbed(world, n);
    await this.quiet(n);
  }

  private async disturbed(n: number, arrange: (replica: Replica) => void): Promise<void> {
    const before = await this.real.readSnapshot();
    await this.real.ask();
    await this.replica(n).poll();
    arrange(this.replica(n));
    await this.real.run(n).catch(() => undefined);
    this.check(before, await this.real.readSnapshot());
  }

  private replica(n: number): Replica {
    return this.real.replicas[n] as Replica;
  }

  /** Runs passes until everything that was asked for is handled. */
  private async undisturbed(world: HistoryWorld, n: number, how?: Extract<Manner, { pass: 'quiet' }>): Promise<void> {
    await world.ask();
    const expected = how?.planned === true ? await world.plan() : undefined;
    if (how?.askMeanwhile === true) world.meanwhile = async () => void (await world.ask());
    const result = await this.onePass(world, n);
    world.meanwhile = undefined;
    if (
      expected !== undefined &&
      result.ending.kind !== 'failed' &&
      !(await world.readSnapshot()).factory['suspended'] &&
      result.ending.reason === expected.ending.reason
    ) {
      same(
        'I3: a pass does what its plan said',
        [result.ending.changes, result.ending.held, withoutExcerpts(result.ending.problems)],
        [expected.ending.changes, expected.ending.held, expected.ending.problems],
      );
    }
    const { factory } = await world.readSnapshot();
    if (factory['generation_handled'] !== factory['generation_requested']) await this.onePass(world, n);
    if (how?.again === true) await this.again(world, n);
  }

  private async onePass(world: HistoryWorld, n: number): ReturnType<HistoryRunner['resultOf']> {
    const before = await world.readSnapshot();
    const replica = world.replicas[n] as Replica;
    await replica.poll();
    const result = await this.resultOf(world, n);
    const after = await world.readSnapshot();
    const passed = this.check(before, after);
    same(
      'I7: the generation that was handled',
      [after.factory['generation_handled'], result.generationHandled],
      [before.factory['generation_requested'], before.factory['generation_requested']],
    );
    checkBindings(passed);
    checkServed(replica.served, after);
    for (const one of world.replicas) {
      await one.poll();
      checkServed(one.served, after);
    }
    same('I6: recorded as applied before it was served', world.unserved, []);
    this.checkProgress(passed);
    this.count(result, before, after);
    return result;
  }

  private async resultOf(world: HistoryWorld, n: number) {
    const result = await world.run(n);
    if (result === undefined) throw new Error('a pass was not begun although nobody held the factory');
    return result;
  }

  /** I4: the second time, nothing changes. */
  private async again(world: HistoryWorld, n: number): Promise<void> {
    const before = await world.readSnapshot();
    const isFailing = before.condition.ending === 'failed';
    await this.resultOf(world, n);
    // It applied a new secret to what was read before: that the tip cannot be read is news to the second.
    if (before.condition.unread !== undefined) return;
    const ignored = isFailing ? ['failures', 'condition'] : [];
    same(
      'I4: applying twice',
      withoutPassMetadata(await world.readSnapshot(), ...ignored),
      withoutPassMetadata(before, ...ignored),
    );
  }

  private check(before: DatabaseSnapshot, after: DatabaseSnapshot): Passed {
    const { tip, outage } = this.repository;
    // While the source is away, only what was seen before is looked at.
    if (outage === undefined || tip.revision === before.factory['revision_seen']) this.noteGuarded(before, tip);
    const passed: Passed = {
      before,
      after,
      approved: this.real.approved,
      guarded: this.guarded,
      usable: this.usable(),
      treeAt: (revision) => this.repository.treeAt(revision),
    };
    checkUids(this.uids, after);
    checkDeletions(passed);
    checkCommitted(passed);
    checkMoves(passed, this.repository.outage === undefined ? this.repository.tip.revision : undefined);
    return passed;
  }

  /** Remembers that a tip needs an approval as it is looked at. */
  private noteGuarded(before: DatabaseSnapshot, { revision, tree }: { revision: string; tree: HistoryTree }): void {
    if (needsApproval(before, tree)) this.guarded.add(revision);
    const sound = [...tree.values()].filter((file) => isSound(file, tree, this.usable()));
    if (needsApproval(before, tree, sound)) this.doubted.add(revision);
  }

  /** A tip in which nothing is wrong and nothing needs people is what serves. */
  private checkProgress({ after }: Passed): void {
    const { tip, outage } = this.repository;
    if (outage !== undefined || after.factory['suspended'] === 1 || this.history.fastForwardOnly) return;
    if (!isClean(tip.tree, this.usable()) || this.guarded.has(tip.revision) || this.doubted.has(tip.revision)) return;
    same(
      'a clean tip is applied',
      [after.factory['revision_applied'], after.condition.ending],
      [tip.revision, 'applied'],
    );
    checkExactly(after, tip.tree);
  }

  private usable(): Map<string, number> {
    return new Map(
      [...this.secrets].flatMap(([name, { version, granted }]) => (granted ? [[name as string, version]] : [])),
    );
  }

  /** I10, and that the same history makes the same (I3). */
  private async compare(): Promise<void> {
    if (this.twin === undefined) return;
    same(
      'I10: what an accident left is what none would have',
      essenceOf(await this.real.readSnapshot()),
      essenceOf(await this.twin.readSnapshot()),
    );
  }

  /** I8: a value is where values are kept, and nowhere else. */
  private async checkSecrecy(): Promise<void> {
    for (const world of this.worlds()) {
      const { tables } = await world.readSnapshot();
      const kept = [...tables]
        .filter(([table]) => table !== 'secret_value')
        .map(([table, found]) => [table, JSON.stringify(found)] as const);
      const plan = JSON.stringify(await world.plan()) ?? '';
      const leaks = [...kept, ['the log', world.reported.join('\n')] as const, ['the plan', plan] as const].filter(
        ([, text]) =>
          text.includes(SECRET_MARKER) || text.includes(Buffer.from(SECRET_MARKER).toString('base64').slice(0, 20)),
      );
      same('I8: where the value of a secret stands', leaks, []);
    }
  }

  private count(
    { ending }: Awaited<ReturnType<HistoryRunner['resultOf']>>,
    before: DatabaseSnapshot,
    after: DatabaseSnapshot,
  ): void {
    const { tally } = this.arena;
    tally.passes += 1;
    tally[ending.kind] += 1;
    tally.deletions += [...before.live.keys()].filter((key) => !after.live.has(key)).length;
  }
}

function essence(look: DatabaseSnapshot): string {
  return JSON.stringify({ ...essenceOf(look), mode: modeOf(look) });
}

function isClean(tree: HistoryTree, usable: ReadonlyMap<string, number>): boolean {
  // without any definition file it is no factory
  return tree.size > 0 && [...tree.values()].every((file: HistoryFile) => isSound(file, tree, usable));
}

/** A pass shows the lines around each problem; a judge, who does not read files, cannot. */
function withoutExcerpts(problems: readonly object[]): object[] {
  return problems.map((problem) => ({ ...problem, excerpt: undefined }));
}
