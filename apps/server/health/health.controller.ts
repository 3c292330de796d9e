/** Whether the process lives and whether it can serve. contract §1. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, HttpCode, Req, Res, Injectable, Inject, Optional } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { agentsFound, ownAgents } from '../execution/agent/profiles.ts';
import { missingGuarantees } from '../execution/executor.ts';
import { AccessStore } from '../store/access/access.ts';
import { ReplicaStore } from '../store/database/replicas.ts';
import { AccessGuard, AllowEverybody } from '../http/access-guard.ts';
import { toTime } from '../http/queries.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { Engine } from '../execution/engine/engine.ts';
import { OutboxRelay } from '../execution/engine/outbox-relay.ts';
import { programVersion } from '../store/database/migrations.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import { Metrics } from '../process/metrics.ts';
import type { Config } from '../config/config.ts';

const RETRY_AFTER_SECONDS = 5;
/** A collector does not wait for a database for longer. */
const FIGURE_MS_MAX = 1_500;

/** What the process knows of itself. */
@Injectable()
export class Readiness {
  private stopping = false;
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly disk: DiskWatch,
    private readonly replicas: ReplicaStore,
    private readonly agents: RunAgents,
    @Optional() private readonly engine?: Engine,
    @Optional() private readonly relay?: OutboxRelay,
  ) {}

  /**
   * Version, roles, the processes beside it where the database tells; means of isolation and agents of this machine,
   * where runs are worked on: no paths, which are nobody's business but the operator's.
   */
  async status(isReachable: boolean): Promise<Record<string, unknown>> {
    const living = isReachable ? await this.replicas.living().catch(() => undefined) : undefined;
    return {
      version: programVersion(),
      roles: [...this.config.roles],
      ...(living === undefined
        ? {}
        : {
            processes: living.map(({ owner, seenAtMs, ...said }) => ({
              name: owner,
              ...said,
              seen_at: toTime(seenAtMs),
            })),
          }),
      ...(this.engine === undefined ? {} : await this.means(this.engine)),
    };
  }

  /** What runs are worked on with. */
  private async means(engine: Engine): Promise<{ sandbox: unknown; agents: unknown }> {
    const [{ kind, means, guarantees }, found] = await Promise.all([
      engine.isolation(),
      agentsFound(this.agents.profiles, this.config.searchPath),
    ]);
    const { processes, files, network, uid } = guarantees;
    return {
      sandbox: {
        kind,
        means,
        isolates: { processes, files, network, user: uid },
        missing: missingGuarantees(guarantees),
      },
      agents: [...ownAgents(this.config), ...found].map(({ id, installed }) => ({ id, installed })),
    };
  }

  stop(): void {
    this.stopping = true;
  }

  /**
   * Why it cannot serve, or not everything; a service without reasons serves. `queue`: what tells processes of waiting
   * runs cannot be reached, so that they begin later.
   */
  reasons(): ('disk_low' | 'queue' | 'stopping')[] {
    return [
      ...(this.disk.isLow() ? (['disk_low'] as const) : []),
      ...(this.relay?.isAway() === true ? (['queue'] as const) : []),
      ...(this.stopping ? (['stopping'] as const) : []),
    ];
  }
}

@Controller()
export class HealthController {
  /** Digest of the Authorization header that was valid last: while the database is away no other can be looked up. */
  private lastValid: string | undefined;
  constructor(
    private readonly store: AccessStore,
    private readonly guard: AccessGuard,
    private readonly readiness: Readiness,
    metrics: Metrics,
  ) {
    metrics.read('millwright_database_up', async () => [{ value: Number(await this.isReachableAtOnce()) }]);
    metrics.read('millwright_queue_up', () => [{ value: Number(!this.readiness.reasons().includes('queue')) }]);
  }

  @Get('healthz')
  @HttpCode(200)
  @AllowEverybody()
  alive(): { status: string } {
    return { status: 'ok' };
  }

  /**
   * 200 while the database answers and nobody stops the process, whatever the state of any repository. With a key it
   * says why not, and what
   * is refused meanwhile: a low disk refuses deliveries only; and what this process is and does.
   */
  @Get('readyz')
  @AllowEverybody()
  async ready(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const isReachable = await this.isReachable();
    const reasons = [...(isReachable ? [] : ['database']), ...this.readiness.reasons()];
    const isReady = isReachable && !reasons.includes('stopping');
    const isKnown = await this.isKnown(request, isReachable);
    if (!isReady) void reply.header('Retry-After', String(RETRY_AFTER_SECONDS));
    await reply.status(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      ...(isKnown ? { reasons, ...(await this.readiness.status(isReachable)) } : {}),
    });
  }

  /** The same for a figure: a database that hangs is away. */
  private isReachableAtOnce(): Promise<boolean> {
    const over = sleep(FIGURE_MS_MAX, false, { ref: false });
    return Promise.race([this.isReachable(), over]);
  }

  private isReachable(): Promise<boolean> {
    return this.store.ping().then(
      () => true,
      () => false,
    );
  }

  private async isKnown(request: FastifyRequest, isReachable: boolean): Promise<boolean> {
    const { authorization } = request.headers;
    if (authorization === undefined) return false;
    const digest = createHash('sha256').update(authorization).digest('hex');
    if (!isReachable) return digest === this.lastValid;
    const isValid = (await this.guard.find(request)) !== undefined;
    if (isValid) this.lastValid = digest;
    return isValid;
  }
}
