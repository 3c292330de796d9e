/** The parts that answer people: who they are, and everything of the interface that needs a role. */
import { randomBytes } from 'node:crypto';
import { BuiltPage } from '../dashboard/built-page.ts';
import type { ResendService } from '../deliveries/resends.service.ts';
import { Pages } from '../docs/docs-files.ts';
import type { Engine } from '../execution/engine/engine.ts';
import { agentsFound, ownAgents } from '../execution/agent/profiles.ts';
import { AccessGuard } from '../http/access-guard.ts';
import { Budgets } from '../http/budgets.ts';
import type { ProcessInfo } from '../health/health.controller.ts';
import { KeyService } from '../keys/keys.service.ts';
import type { KeyUses } from '../keys/key-uses.ts';
import { programVersion } from '../process/program-version.ts';
import type { EventStreams } from '../runs/event-streams.ts';
import { SessionService } from '../sessions/sessions.service.ts';
import { Sessions } from '../sessions/session-authenticator.ts';
import type { RunDeps } from './execution.ts';
import { factoryParts } from './factories.ts';
import type { ReconcilingParts } from './reconciling.ts';
import { runParts } from './runs.ts';
import type { ServiceDeps } from './surroundings.ts';

/** Who asks, for every process: readiness tells more to who has a key. Requests and failures are counted in this process. */
export function accessParts(
  { config, stores, nowMs, newId }: ServiceDeps,
  keyUses: KeyUses,
): { guard: AccessGuard; instances: object[] } {
  const budgets = new Budgets(
    { requestsPerMinute: config.apiRequestsPerMinute, failuresPerMinute: config.apiFailuresPerMinute },
    nowMs,
  );
  const sessions = new Sessions(stores.sessions, config.publicUrl);
  const sessionService = new SessionService(stores.sessions, stores.keys, {
    lifetimeMs: config.sessionMs,
    nowMs,
    newId,
    random: randomBytes,
  });
  const guard = new AccessGuard(stores.keys, sessions, keyUses, budgets);
  return { guard, instances: [guard, sessions, sessionService, stores.accounts] };
}

/** The web page, of a process that has it. */
export function pageParts({ config }: ServiceDeps, pageFolder: string | undefined): object[] {
  return config.roles.has('dashboard') ? [new BuiltPage(config.publicUrl, pageFolder)] : [];
}

/** What is answered below /api/v1 and described in /docs. `engine`: the one of this process, where it works on runs. */
export function apiParts(
  around: ServiceDeps,
  ground: RunDeps,
  reconciling: ReconcilingParts,
  resends: ResendService,
  engine: Engine | undefined,
): { eventStreams: EventStreams; instances: object[] } {
  const { config, stores, nowMs, newId } = around;
  const { eventStreams, instances } = runParts(around, ground, engine);
  const keys = new KeyService(stores.keys, stores.accounts, { nowMs, newId, random: randomBytes });
  return {
    eventStreams,
    instances: [
      new Pages(config.publicUrl),
      keys,
      stores.audit,
      reconciling.secrets,
      resends,
      ...factoryParts(around, reconciling),
      ...instances,
    ],
  };
}

/** What the process says of itself to who has a key. */
export function processInfoOf(
  { config, stores: { replicas }, profiles }: ServiceDeps,
  engine: Engine | undefined,
): ProcessInfo {
  return {
    version: programVersion(),
    roles: [...config.roles],
    processes: () => replicas.living(),
    means: engine && {
      sandbox: () => engine.isolation(),
      agents: async () => [...ownAgents(config), ...(await agentsFound(profiles, config.searchPath))],
    },
  };
}
