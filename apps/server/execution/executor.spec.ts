/**
 * The engine over an executor that runs nothing at all: whatever it does for a run goes through the seam. contract §3.6
 * (States).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandEnd } from '#runs';
import { storesOf, type Stores } from '../../../test/conformance/backends.ts';
import { claimRun, newId, runOf } from '../../../test/conformance/seeds.ts';
import { eventually } from '../../../test/support/services/service.ts';
import type { Config } from '../config/config.ts';
import { Metrics } from '../process/metrics.ts';
import { NO_TRACES } from '../process/traces.ts';
import { Log } from '../process/log.ts';
import { openDatabase } from '../store/open-database.ts';
import { TableDispatch } from './engine/dispatch.ts';
import { Engine, type EngineDeps } from './engine/engine.ts';
import type {
  CollectedArtifact,
  ExecutionRef,
  ExecutionRequest,
  ExecutionResult,
  Executor,
  Isolation,
  KillOptions,
} from './executor.ts';

const ISOLATION: Isolation = {
  kind: 'memory',
  means: 'nothing runs',
  description: 'memory: nothing runs',
  guarantees: { processes: true, files: true, network: true, loopback: true, uid: true, calls: true },
};

/** Executions that end when the test says so, or when they are killed. */
class MemoryExecutor implements Executor {
  readonly calls: string[] = [];
  private readonly ends = new Map<string, (end: CommandEnd) => void>();

  async isolation(): Promise<Isolation> {
    return ISOLATION;
  }

  async start(request: ExecutionRequest): Promise<ExecutionResult> {
    this.calls.push('start');
    const task = await request.begin();
    if (task === undefined) return { kind: 'not-begun' };
    request.work({ cwd: '/work', stateFolder: '/state', addAttachments: () => Promise.resolve() });
    const ended = new Promise<CommandEnd>((resolve) => this.ends.set(request.runId, resolve));
    await request.onProcess({ process: `place of ${request.runId}`, sandbox: ISOLATION.kind, finished: ended });
    request.onOutput({ kind: 'stdout', text: `does ${task.prompt}\n`, at: Date.now() });
    const end = await ended;
    request.onProcessEnd();
    return { kind: 'ended', end };
  }

  async killOrphan({ epoch }: ExecutionRef, process: string | undefined): Promise<void> {
    this.calls.push(`kill orphan ${process} of epoch ${epoch}`);
  }

  async redactLeft(): Promise<void> {}

  async kill({ runId }: ExecutionRef, { atOnce = false, why }: KillOptions = {}): Promise<void> {
    this.calls.push(['kill', ...(atOnce ? ['at once'] : []), ...(why === undefined ? [] : [why])].join(' '));
    this.end(runId, { kind: 'cancelled' });
  }

  async *collect(): AsyncGenerator<CollectedArtifact> {
    this.calls.push('collect');
    yield { ok: false, reason: 'nothing is kept' };
  }

  async workspaces(): Promise<string[]> {
    return [...this.ends.keys()];
  }

  async bytesUsed(): Promise<number> {
    return 0;
  }

  async remove(runId: string): Promise<void> {
    this.calls.push('remove');
    this.ends.delete(runId);
  }

  end(runId: string, end: CommandEnd): void {
    this.ends.get(runId)?.(end);
  }

  isRunning(runId: string): boolean {
    return this.ends.has(runId);
  }
}

const config = {
  roles: new Set(['worker']),
  runConcurrency: 2,
  drainMs: 0,
  runTimeoutMs: 60_000,
  runRestartable: false,
  allowUnsandboxed: false,
  agentEnvironment: {},
  runNetwork: { kind: 'none', hosts: [] },
  workspaceRetentionDays: 0,
  workerHost: 'here',
  workerEnvironments: [],
} as unknown as Config;

let dataDir = '';
let stores: Stores;
const closings: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-executor-'));
  const database = await openDatabase({ dataDir, nowMs: Date.now });
  stores = storesOf(database);
  closings.push(
    () => rm(dataDir, { recursive: true, force: true }),
    () => database.close(),
  );
});
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

function engineOver(executor: Executor, more: Partial<EngineDeps> = {}): Engine {
  const log = new Log(() => undefined, Date.now);
  const environments = { resolve: () => Promise.resolve(undefined) };
  const skills = { resolveAll: () => Promise.resolve([]) };
  const engine = new Engine({
    ...stores,
    config,
    executor,
    environments,
    skills,
    secrets: {},
    builtInAgent: { command: [], readOnly: [] },
    profiles: [],
    owner: 'this process',
    dispatch: new TableDispatch(log),
    isDiskLow: () => false,
    freeRepositorySpace: () => Promise.resolve(),
    publish: () => undefined,
    nowMs: Date.now,
    newId,
    log,
    metrics: new Metrics(),
    traces: NO_TRACES,
    ...more,
  } as unknown as EngineDeps);
  closings.push(() => engine.stop());
  return engine;
}

async function queued(): Promise<string> {
  const run = runOf({}, { prompt: 'its work' });
  await stores.runs.create(run);
  return run.runId;
}

const stateOf = async (runId: string): Promise<string | undefined> => (await stores.runs.find(runId))?.state;
const becomes = (runId: string, state: string): Promise<unknown> =>
  eventually(`the run becomes ${state}`, async () => ((await stateOf(runId)) === state ? true : undefined));
const startedOn = async (executor: MemoryExecutor, runId: string): Promise<void> => {
  await eventually('the run is worked on', async () => (executor.isRunning(runId) ? true : undefined));
  await becomes(runId, 'INPROGRESS');
};
const textsOf = async (runId: string): Promise<unknown[]> =>
  (await stores.runs.events(runId, 0, 100)).map(({ body }) => {
    const { text, state } = JSON.parse(body) as { text?: string; state?: string };
    return text ?? state;
  });

describe('an executor', () => {
  it('is all that a run needs from claim to end: started, collected, its output and its end stored', async () => {
    const executor = new MemoryExecutor();
    const runId = await queued();
    engineOver(executor).start();
    await startedOn(executor, runId);
    executor.end(runId, { kind: 'exited', code: 0 });
    await becomes(runId, 'SUCCEEDED');
    expect(executor.calls).toEqual(['start', 'collect']);
    const reach = 'network: this run reaches nothing (operator: none)';
    expect(await textsOf(runId)).toEqual([reach, 'does its work\n', 'nothing is kept', 'SUCCEEDED']);
  });

  it('kills politely what somebody cancels, and its run ends as cancelled', async () => {
    const executor = new MemoryExecutor();
    const runId = await queued();
    const engine = engineOver(executor);
    engine.start();
    await startedOn(executor, runId);
    await stores.runs.cancel(runId);
    engine.wake();
    await becomes(runId, 'CANCELLED');
    expect(executor.calls).toEqual(['start', 'kill', 'collect']);
  });

  it('kills at once what its process has lost, and writes nothing more of it', async () => {
    const executor = new MemoryExecutor();
    const runId = await queued();
    const engine = engineOver(executor);
    engine.start();
    await startedOn(executor, runId);
    expect(await stores.runs.reclaim(runId, 1, { state: 'ERROR', message: 'taken over' })).toBe(true);
    engine.wake();
    await eventually('it is killed', async () => (executor.calls.length > 1 ? true : undefined));
    await engine.stop();
    expect(executor.calls).toEqual(['start', 'kill at once']);
    expect((await textsOf(runId)).at(-1)).toBe('ERROR');
  });

  it('adopts what an earlier life of the process left running, before its run ends or begins anew', async () => {
    const executor = new MemoryExecutor();
    const runId = await queued();
    const claim = await claimRun(stores, runId, 'an earlier life');
    await stores.runs.prepare(claim);
    await stores.runs.noteProcess(claim, 'what was left', 'memory');
    const engine = engineOver(executor);
    await engine.recover();
    expect(executor.calls).toEqual(['kill orphan what was left of epoch 1']);
    expect(await stores.runs.find(runId)).toMatchObject({ state: 'QUEUED', takeovers: 1 });
    engine.start();
    await startedOn(executor, runId);
  });

  it('hands over what runs when its process stops: a command that had begun is not started twice', async () => {
    const executor = new MemoryExecutor();
    const runId = await queued();
    const engine = engineOver(executor);
    engine.start();
    await startedOn(executor, runId);
    await engine.stop();
    expect(executor.calls).toEqual([
      'start',
      'kill the service stops: this execution is ended and the run handed over',
      'collect',
    ]);
    expect(await stateOf(runId)).toBe('ERROR');
  });

  it('removes the place of a run that ended long ago', async () => {
    const executor = new MemoryExecutor();
    const runId = await queued();
    const engine = engineOver(executor, { nowMs: () => Date.now() + 1_000 });
    engine.start();
    await startedOn(executor, runId);
    executor.end(runId, { kind: 'exited', code: 0 });
    await becomes(runId, 'SUCCEEDED');
    await eventually('its place is free', async () => (engine.freeSlots() === 2 ? true : undefined));
    expect(await engine.sweepWorkspaces()).toBe(1);
    expect(await executor.workspaces()).toEqual([]);
  });
});
