/** Runs executions as processes of this machine, in the best sandbox that works here. contract §3, §10. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { QuotaPlace } from '#isolation';
import { isUuid } from '#runs';
import type { Config } from '../../config/config.ts';
import type { Log } from '../../process/log.ts';
import type { Vault } from '../../secrets/vault.ts';
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
import { describeQuotas, findProjectQuotas, setProjectQuota } from '../workspace/project-quotas.ts';
import { TranscriptSecrets } from '../workspace/transcript-secrets.ts';
import { removeWorkspace, workspaceAt, type Workspace } from '../workspace/workspaces.ts';
import { EnvironmentSetup } from './environment-setup.ts';
import { LocalExecution } from './local-execution.ts';

export interface LocalExecutorDeps {
  config: Config;
  /** Copies of the repositories that environments name. */
  repositories: Repositories;
  /** What the agent that comes with the service reads in addition to the run's own folders. */
  builtInAgent: { readOnly: readonly string[] };
  log: Log;
  vault: Vault;
}

export class LocalExecutor implements Executor {
  private readonly deps: LocalExecutorDeps;
  private readonly environments: EnvironmentSetup;
  /** What runs here now. */
  private readonly running = new Map<string, LocalExecution>();
  private readonly transcripts: TranscriptSecrets;
  private sandbox: Promise<Sandbox> | undefined;
  /** Where the data folder's file system bounds folders. */
  private quotas: Extract<QuotaPlace, { ok: true }> | undefined;

  constructor(deps: LocalExecutorDeps) {
    this.deps = deps;
    this.environments = new EnvironmentSetup(deps);
    this.transcripts = new TranscriptSecrets(deps.vault);
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
    const quotas = await findProjectQuotas(config.dataDir);
    if (quotas.ok) this.quotas = quotas;
    const description = `${sandbox.description}; ${describeCgroups(place)}; ${describeQuotas(quotas)}`;
    return { ...sandbox, description, cgroups: await RunCgroups.open(place) };
  }

  async start(request: ExecutionRequest): Promise<ExecutionResult> {
    const key = keyOf(request);
    const execution = new LocalExecution({
      ...this.deps,
      environments: this.environments,
      transcripts: this.transcripts,
      root: this.root(),
      sandbox: await this.isolation(),
      request,
      bound: (workspace) => this.bound(workspace),
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

  async redactLeft(): Promise<void> {
    const { log } = this.deps;
    const busy = new Set([...this.running.keys()].map((key) => key.slice(0, key.lastIndexOf('-'))));
    for (const runId of await this.workspaces()) {
      if (busy.has(runId)) continue;
      await this.redactLeftOf(runId).catch((error: unknown) =>
        log.fault('transcript redaction failed', error, { run_id: runId }),
      );
    }
  }

  private async redactLeftOf(runId: string): Promise<void> {
    const workspace = await workspaceAt({ root: this.root(), runId, epoch: 0 });
    if (await this.transcripts.redactLeft(workspace))
      this.deps.log.warn('transcripts of a lost execution redacted', { run_id: runId });
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

  async remove(runId: string): Promise<void> {
    await removeWorkspace(this.root(), runId);
    if (this.quotas !== undefined && this.deps.config.runDiskBytesMax !== undefined)
      await setProjectQuota(this.quotas, { runId, folder: this.root(), bytesMax: undefined }).catch(() => undefined);
  }

  /** Where it fails, disk is looked at all the same. */
  private async bound({ runId, folder }: Workspace): Promise<void> {
    const { config, log } = this.deps;
    const bytesMax = config.runDiskBytesMax;
    if (this.quotas === undefined || bytesMax === undefined) return;
    await setProjectQuota(this.quotas, { runId, folder, bytesMax }).catch((error: unknown) =>
      log.fault('project quota failed', error, { run_id: runId }),
    );
  }

  private root(): string {
    return join(this.deps.config.dataDir, 'runs');
  }
}

function keyOf({ runId, epoch }: ExecutionRef): string {
  return `${runId}-${epoch}`;
}
