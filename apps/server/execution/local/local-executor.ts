/** Runs executions as processes of this machine, in the best sandbox that works here. contract §3, §10. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '#runs';
import type { Config } from '../../config/config.ts';
import type { Log } from '../../process/log.ts';
import { killLeftover, type ProcessHandle } from '../command/process-tree.ts';
import type {
  CollectedArtifact,
  CollectOptions,
  ExecutionRef,
  ExecutionRequest,
  ExecutionResult,
  Executor,
  KillOptions,
} from '../executor.ts';
import type { Repositories } from '../repositories/repositories.ts';
import { describeCgroups, findCgroups, RunCgroups } from '../sandbox/run-cgroups.ts';
import { detectSandbox } from '../sandbox/sandboxes-detection.ts';
import type { Sandbox } from '../sandbox/sandboxes.ts';
import { collectArtifacts } from '../workspace/artifact-collection.ts';
import { bytesBelow } from '../workspace/folder-trees.ts';
import { removeWorkspace, workspaceAt } from '../workspace/workspaces.ts';
import { EnvironmentSetup } from './environment-setup.ts';
import { LocalExecution } from './local-execution.ts';

export interface LocalExecutorDeps {
  config: Config;
  /** Copies of the repositories that environments name. */
  repositories: Repositories;
  /** What the agent that comes with the service reads in addition to the run's own folders. */
  builtInAgent: { readOnly: readonly string[] };
  log: Log;
}

export class LocalExecutor implements Executor {
  private readonly deps: LocalExecutorDeps;
  private readonly environments: EnvironmentSetup;
  /** What runs here now. */
  private readonly running = new Map<string, LocalExecution>();
  private sandbox: Promise<Sandbox> | undefined;

  constructor(deps: LocalExecutorDeps) {
    this.deps = deps;
    this.environments = new EnvironmentSetup(deps);
  }

  isolation(): Promise<Sandbox> {
    return (this.sandbox ??= this.findSandbox());
  }

  private async findSandbox(): Promise<Sandbox> {
    const { config } = this.deps;
    const sandbox = await detectSandbox({
      dataDir: config.dataDir,
      hidden: [config.masterKeyFile, config.uidKeyFile, config.tls?.keyFile].filter((file) => file !== undefined),
      path: config.searchPath,
    });
    const place = await findCgroups();
    const description = `${sandbox.description}; ${describeCgroups(place)}`;
    return { ...sandbox, description, cgroups: await RunCgroups.open(place) };
  }

  async start(request: ExecutionRequest): Promise<ExecutionResult> {
    const key = keyOf(request);
    const execution = new LocalExecution({
      ...this.deps,
      environments: this.environments,
      root: this.root(),
      sandbox: await this.isolation(),
      request,
    });
    this.running.set(key, execution);
    try {
      return await execution.carryOut();
    } catch (error) {
      await execution.abandon(); // whatever failed: nothing of it may go on unsupervised
      throw error;
    } finally {
      this.running.delete(key);
    }
  }

  async killOrphan({ runId, epoch }: ExecutionRef, process: string | undefined): Promise<void> {
    await killLeftover(process === undefined ? undefined : (JSON.parse(process) as ProcessHandle), runId, epoch);
  }

  async kill(execution: ExecutionRef, options: KillOptions = {}): Promise<void> {
    await this.running.get(keyOf(execution))?.kill(options);
  }

  async *collect(
    execution: ExecutionRef,
    { secretValues, reports }: CollectOptions,
  ): AsyncGenerator<CollectedArtifact> {
    yield* collectArtifacts(await workspaceAt({ root: this.root(), ...execution }), secretValues, reports);
  }

  async workspaces(): Promise<string[]> {
    return (await readdir(this.root()).catch(() => [])).filter(isUuid);
  }

  bytesUsed(runId: string): Promise<number> {
    return bytesBelow(join(this.root(), runId));
  }

  remove(runId: string): Promise<void> {
    return removeWorkspace(this.root(), runId);
  }

  private root(): string {
    return join(this.deps.config.dataDir, 'runs');
  }
}

function keyOf({ runId, epoch }: ExecutionRef): string {
  return `${runId}-${epoch}`;
}
