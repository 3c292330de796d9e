/** Whether the process lives and whether it can serve. contract 1. */
import { createHash } from 'node:crypto';
import { Controller, Get, HttpCode, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgentFound } from '../execution/agent/profiles.ts';
import { missingGuarantees, type Isolation } from '../execution/executor.ts';
import { AccessStore } from '../store/access/access.ts';
import type { Process } from '../store/database/replicas.ts';
import { AccessGuard, AllowEverybody } from '../http/access-guard.ts';
import { toTime } from '../http/timestamps.ts';

const RETRY_AFTER_SECONDS = 5;

/** What a process is, looked up when somebody asks. */
export interface ProcessInfo {
  /** Its program, and what it does of the service. */
  version: string;
  roles: readonly string[];
  /** Every process that lives on the same database, itself included. */
  processes(): Promise<readonly (Process & { seenAtMs: number })[]>;
  /** What runs are worked on with; absent where none are. */
  means?: { sandbox(): Promise<Isolation>; agents(): Promise<AgentFound[]> };
}

/** What the process knows of itself. */
export class Readiness {
  private readonly isDiskLow: () => boolean;
  private readonly isQueueAway: () => boolean;
  private readonly found: ProcessInfo;
  private stopping = false;
  /** `isQueueAway`: what tells processes of waiting runs cannot be reached, so that they begin later. */
  constructor(isDiskLow: () => boolean, found: ProcessInfo, isQueueAway: () => boolean = () => false) {
    this.isDiskLow = isDiskLow;
    this.isQueueAway = isQueueAway;
    this.found = found;
  }

  /** Version, roles, the processes beside it where the database tells; means of isolation and agents of this machine, where runs are worked on: no paths, which are nobody's business but the operator's. */
  async standing(isReachable: boolean): Promise<Record<string, unknown>> {
    const { version, roles, processes, means } = this.found;
    const living = isReachable ? await processes().catch(() => undefined) : undefined;
    return {
      version,
      roles,
      ...(living === undefined
        ? {}
        : {
            processes: living.map(({ owner, seenAtMs, ...said }) => ({
              name: owner,
              ...said,
              seen_at: toTime(seenAtMs),
            })),
          }),
      ...(means === undefined ? {} : await this.means(means)),
    };
  }

  private async means(found: NonNullable<ProcessInfo['means']>): Promise<{ sandbox: unknown; agents: unknown }> {
    const [{ kind, means, guarantees }, agents] = await Promise.all([found.sandbox(), found.agents()]);
    const { processes, files, network, uid } = guarantees;
    return {
      sandbox: {
        kind,
        means,
        isolates: { processes, files, network, user: uid },
        missing: missingGuarantees(guarantees),
      },
      agents: agents.map(({ id, installed }) => ({ id, installed })),
    };
  }

  stop(): void {
    this.stopping = true;
  }

  /** Why it cannot serve, or not everything; a service without reasons serves. */
  reasons(): ('disk_low' | 'queue' | 'stopping')[] {
    return [
      ...(this.isDiskLow() ? (['disk_low'] as const) : []),
      ...(this.isQueueAway() ? (['queue'] as const) : []),
      ...(this.stopping ? (['stopping'] as const) : []),
    ];
  }
}

@Controller()
export class HealthController {
  private readonly store: AccessStore;
  private readonly guard: AccessGuard;
  private readonly readiness: Readiness;
  /** Digest of the Authorization header that was valid last: while the database is away no other can be looked up. */
  private lastValid: string | undefined;
  constructor(store: AccessStore, guard: AccessGuard, readiness: Readiness) {
    this.store = store;
    this.guard = guard;
    this.readiness = readiness;
  }

  @Get('healthz')
  @HttpCode(200)
  @AllowEverybody()
  alive(): { status: string } {
    return { status: 'ok' };
  }

  /**
   * 200 while the database answers and nobody stops the process, whatever the state of any repository. With a key it says why not, and what
   * is refused meanwhile: a low disk refuses deliveries only; and what this process is and does.
   */
  @Get('readyz')
  @AllowEverybody()
  async ready(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const isReachable = await this.store.ping().then(
      () => true,
      () => false,
    );
    const reasons = [...(isReachable ? [] : ['database']), ...this.readiness.reasons()];
    const isReady = isReachable && !reasons.includes('stopping');
    const isKnown = await this.isKnown(request, isReachable);
    if (!isReady) void reply.header('Retry-After', String(RETRY_AFTER_SECONDS));
    await reply.status(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      ...(isKnown ? { reasons, ...(await this.readiness.standing(isReachable)) } : {}),
    });
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
