/** One pass: make the service match the factory repository at its current commit. contract 9. */
import { createHash } from 'node:crypto';
import type { CheckedDefinitions, Reading } from '#definitions';
import { errorCountOf, faulted, fingerprint, isEmpty, judge, PROBLEMS_RECORDED_MAX, retryDelayMs, unreadable, type Actual, type Ending, type Plan, type Rebinding } from '#reconcile';
import { FenceLost, type Condition, type Factory, type PassRecord } from '../store/factories.ts';
import { toApplication } from './apply.ts';
import { groundOf, type GroundSources } from './ground.ts';
import { readInSlices } from './reading.ts';
import type { Source } from './sources/source.ts';

/** A replica that does not renew for this long has lost its factory to another. */
export const LEASE_MS = 30_000;
/** How often a long pass renews its lease and looks after secrets again: a leaked one must not outlive the outage of a git host that hangs. */
const SECRETS_AGAIN_MS = 1_000;

export interface PassContext extends GroundSources {
  owner: string;
  /** Makes what was committed the serving state of this process. */
  publish(): Promise<void>;
  nowMs(): number;
  newId(): string;
  /** A fault worth an operator's look; never holds file contents. */
  report(fault: unknown, factorySlug: string): void;
}

/** What a factory's loop remembers between passes: the tree of a revision needs no second reading. */
export interface Memory {
  reading?: { revision: string; reading: Reading };
}

/** What the loop needs to know to go on. */
export interface PassResult {
  ending: Ending;
  generationHandled: number;
  /** Set when the pass should be tried again before the interval is over. */
  retryInMs?: number;
}

export class FactoryPass {
  private readonly context: PassContext;
  private readonly source: Source;
  private readonly memory: Memory = {};

  constructor(context: PassContext, source: Source) {
    this.context = context;
    this.source = source;
  }

  /** Runs one pass; undefined when another replica holds the factory or it is gone. */
  async run(factoryUid: string, triggers: readonly string[], signal: AbortSignal): Promise<PassResult | undefined> {
    const lease = await this.context.factories.lease(factoryUid, this.context.owner, LEASE_MS);
    const factory = await this.context.factories.find(factoryUid);
    if (lease === undefined || factory === undefined) return undefined;
    const startedAtMs = this.context.nowMs();
    const meanwhile = this.keepSecretsFresh(factory, lease.fence);
    try {
      const rebound = await this.rebindSecrets(factory, lease.fence); // first and always: a rotation waits for no git host
      const ending = reconciles(factory) ? await this.attempt(factory, lease.fence, signal) : undefined;
      return await this.recordAnyway(factory, lease.fence, { ...(ending ?? unchanged(factory)), rebound: [...rebound, ...(await meanwhile())] }, triggers, startedAtMs, ending === undefined);
    } finally {
      await meanwhile();
      await this.context.factories.release(factoryUid, lease.fence);
    }
  }

  private async rebindSecrets(factory: Factory, fence: number): Promise<Rebinding[]> {
    const rebound = await this.context.definitions.rebindSecrets(factory.uid, fence);
    if (rebound.length > 0) await this.context.publish();
    return rebound;
  }

  /** Repeats step 0 while a pass takes long. The answer ends that, and tells what was moved. */
  private keepSecretsFresh(factory: Factory, fence: number): () => Promise<Rebinding[]> {
    const moved: Rebinding[] = [];
    let looking = Promise.resolve();
    const look = async (): Promise<void> => {
      try {
        await this.context.factories.renew(factory.uid, fence, LEASE_MS);
        moved.push(...(await this.rebindSecrets(factory, fence)));
      } catch (error) {
        if (!(error instanceof FenceLost)) this.context.report(error, factory.slug);
      }
    };
    const timer = setInterval(() => void (looking = looking.then(look)), SECRETS_AGAIN_MS);
    return async () => {
      clearInterval(timer);
      await looking;
      return moved;
    };
  }

  private async attempt(factory: Factory, fence: number, signal: AbortSignal): Promise<Ending> {
    try {
      return await this.reconcile(factory, fence, signal);
    } catch (error) {
      if (error instanceof FenceLost) throw error;
      this.context.report(error, factory.slug);
      return faulted('the pass failed inside the service; its log has the details');
    }
  }

  private async reconcile(factory: Factory, fence: number, signal: AbortSignal): Promise<Ending> {
    const tree = await this.read(signal);
    if (tree.ok) return this.reconcileTree(factory, fence, tree);
    // What waits for people (an approval, a secret) needs no git host: the tree of the last look is judged again.
    const waiting = factory.revisionAttempted === factory.revisionApplied ? undefined : this.memory.reading;
    const judged = waiting && (await this.reconcileTree(factory, fence, waiting));
    return judged?.kind === 'applied' ? judged : unreadable(tree);
  }

  private async reconcileTree(factory: Factory, fence: number, tree: NonNullable<Memory['reading']>): Promise<Ending> {
    const ground = await groundOf(factory, this.context);
    const { checked, planned, applies, ending } = judge(tree, ground);
    if (applies) await this.apply(factory, fence, tree, planned, checked, ground.actual);
    return ending;
  }

  private async read(signal: AbortSignal) {
    const { memory } = this;
    const snapshot = await this.source.snapshot({ atHand: memory.reading?.revision }, signal);
    if (!snapshot.ok) return snapshot;
    if (!snapshot.unchanged) memory.reading = { revision: snapshot.revision, reading: await readInSlices(snapshot.files) };
    return { ok: true as const, ...(memory.reading as NonNullable<Memory['reading']>) };
  }

  /** An unchanged revision with nothing to do writes nothing. */
  private async apply(factory: Factory, fence: number, { revision, reading }: NonNullable<Memory['reading']>, planned: Plan, checked: CheckedDefinitions, actual: Actual): Promise<void> {
    if (isEmpty(planned) && factory.revisionApplied === revision) return;
    await this.context.definitions.apply(toApplication(factory, fence, revision, planned, checked.definitions, actual, reading));
    await this.context.publish();
  }

  /** An end that cannot be written down is a fault of ours: that is written down instead, and the pass is tried again later. */
  private async recordAnyway(...[factory, fence, ending, triggers, startedAtMs, filesLeftAlone]: Parameters<FactoryPass['record']>): Promise<PassResult> {
    try {
      return await this.record(factory, fence, ending, triggers, startedAtMs, filesLeftAlone);
    } catch (error) {
      if (error instanceof FenceLost) throw error;
      this.context.report(error, factory.slug);
      const fault = { ...faulted('the end of the pass could not be recorded; the log of the service has the details'), rebound: ending.rebound };
      return this.record(factory, fence, fault, triggers, startedAtMs, filesLeftAlone);
    }
  }

  /** The one place where a pass's end is written down, whatever path it took. */
  private async record(factory: Factory, fence: number, ending: Ending, triggers: readonly string[], startedAtMs: number, filesLeftAlone: boolean): Promise<PassResult> {
    const finishedAtMs = this.context.nowMs();
    const failures = ending.kind === 'failed' ? factory.failures + 1 : 0;
    const print = createHash('sha256').update(fingerprint(ending)).digest('base64url');
    const news = ending.rebound.length > 0 || ending.changes.length > 0 || (!filesLeftAlone && print !== factory.condition.fingerprint);
    const condition: Condition = filesLeftAlone
      ? { ...factory.condition, checkedMs: finishedAtMs }
      : {
          ending: ending.kind, reason: ending.reason, message: ending.message, errorCount: errorCountOf(ending.problems), heldDigest: ending.digest,
          checkedMs: finishedAtMs, fingerprint: print,
          sinceMs: print === factory.condition.fingerprint ? factory.condition.sinceMs : finishedAtMs,
        };
    await this.context.factories.recordPass(factory.uid, fence, {
      generationHandled: factory.generationRequested,
      condition,
      failures: filesLeftAlone ? factory.failures : failures,
      revisionSeen: filesLeftAlone ? undefined : ending.revision,
      revisionAttempted: filesLeftAlone ? undefined : ending.revision,
      record: news ? this.toRecord(ending, triggers, startedAtMs, finishedAtMs) : undefined,
    });
    return { ending, generationHandled: factory.generationRequested, retryInMs: ending.kind === 'failed' && !filesLeftAlone ? retryDelayMs(failures, Math.random()) : undefined };
  }

  private toRecord(ending: Ending, triggers: readonly string[], startedAtMs: number, finishedAtMs: number): PassRecord {
    return {
      id: this.context.newId(),
      triggers: [...triggers],
      startedAtMs,
      finishedAtMs,
      ending: ending.kind,
      reason: ending.reason,
      message: ending.message,
      revision: ending.revision,
      problems: ending.problems.slice(0, PROBLEMS_RECORDED_MAX),
      changes: [...ending.rebound.map(toSecretChange), ...ending.changes],
      held: [...ending.held],
      digest: ending.digest,
      timings: { total_ms: finishedAtMs - startedAtMs },
    };
  }
}

/** A secret that moved, as an entry of the history: name and version, never a value. */
function toSecretChange({ webhookUid, slug, path, secretName, version }: Rebinding): Record<string, unknown> {
  return { action: 'update', kind: 'webhook', slug, uid: webhookUid, path, changes: ['secretVersion'], secretName, secretVersion: version ?? null };
}

/** Whether a pass looks at files at all; secrets are looked after either way. */
function reconciles({ suspended, source }: Factory): boolean {
  return !suspended && source.kind !== 'dashboard';
}

/** A factory whose files are not looked at keeps the ending that it had. */
function unchanged({ condition }: Factory): Ending {
  return {
    kind: condition.ending === 'none' ? 'applied' : condition.ending,
    reason: condition.reason, message: condition.message, problems: [], changes: [], held: [], rebound: [],
  };
}
