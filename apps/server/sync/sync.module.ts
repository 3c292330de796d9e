/**
 * `SyncLoops` is in every process: without the role `sync` it only passes requests on. `FactoryAssignments` follows
 * factories, and is there with the role only.
 */
import type { PassEnding } from '#reconcile';
import { Global, Module } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { Clock, CONFIG, IdSource, PollIntervals, ProcessIdentity } from '../process/injection-tokens.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { Installation } from '../keys/installation.ts';
import { Log } from '../process/log.ts';
import { Metrics } from '../process/metrics.ts';
import { Traces } from '../process/traces.ts';
import { Notices } from '../store/database/notices.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { SecretStore } from '../store/secrets/secrets.ts';
import { ServingPublisher } from '../webhooks/serving-state.ts';
import { FactoryAssignments } from './factory-assignments.ts';
import { FactorySourceOpener } from './factory-sources.ts';
import { SyncLoops } from './loops.ts';
import type { PassContext, PassFacts } from './pass-context.ts';
import { SOURCES } from './sources/registry.ts';

/** What a pass works with. */
const PASS_CONTEXT = Symbol('PassContext');

/**
 * Folders are of one machine: where several processes share a database, one is followed where the operator named it or
 * allows them all.
 */
function followed(config: Config, sources: FactorySourceOpener): (factory: Factory) => boolean {
  if (!config.roles.has('sync')) return () => false;
  return (factory) =>
    !SOURCES.kindOf(factory.source).isLocal ||
    config.databaseUrl === undefined ||
    config.allowLocalSources ||
    sources.isTrusted(factory);
}

/** One line for each pass that brought something new, or failed. */
function logPassEnd(log: Log, factory: Factory, ending: PassEnding, { seconds, traceId }: PassFacts): void {
  const { kind, reason, revision, changes, held, problems } = ending;
  const isUnchanged = kind === 'applied' && changes.length === 0 && factory.revisionApplied === revision;
  if (isUnchanged && factory.condition.ending === kind) return;
  log.info('sync pass ended', {
    factory: factory.slug,
    factory_uid: factory.uid,
    ending: kind,
    reason,
    revision,
    changes: changes.length,
    held: held.length,
    problems: problems.length,
    seconds: Math.round(seconds * 1_000) / 1_000,
    trace_id: traceId,
  });
}

@Global()
@Module({
  providers: [
    FactorySourceOpener,
    {
      provide: PASS_CONTEXT,
      useFactory: (
        config: Config,
        agents: RunAgents,
        { owner }: ProcessIdentity,
        { uidKey }: Installation,
        factories: FactoryStore,
        definitions: DefinitionStore,
        secrets: SecretStore,
        publisher: ServingPublisher,
        clock: Clock,
        ids: IdSource,
        log: Log,
        metrics: Metrics,
        traces: Traces,
      ): PassContext => ({
        config,
        agents,
        owner,
        metrics,
        traces,
        uidKey,
        factories,
        definitions,
        secrets,
        nowMs: () => clock.nowMs(),
        newId: () => ids.newId(),
        publish: () => publisher.publish(),
        logEnd: (factory, ending, facts) => logPassEnd(log, factory, ending, facts),
        report: (fault, slug) => log.fault('sync pass failed', fault, { factory: slug }),
      }),
      inject: [
        CONFIG,
        RunAgents,
        ProcessIdentity,
        Installation,
        FactoryStore,
        DefinitionStore,
        SecretStore,
        ServingPublisher,
        Clock,
        IdSource,
        Log,
        Metrics,
        Traces,
      ],
    },
    {
      provide: SyncLoops,
      useFactory: (context: PassContext, notices: Notices, config: Config, sources: FactorySourceOpener) =>
        new SyncLoops(context, notices, {
          intervalMs: config.syncIntervalMs,
          follows: followed(config, sources),
          isTrusted: (factory) => sources.isTrusted(factory),
          openSource: (factory) => sources.open(factory),
        }),
      inject: [PASS_CONTEXT, Notices, CONFIG, FactorySourceOpener],
    },
  ],
  exports: [SyncLoops, FactorySourceOpener],
})
export class SyncLoopsModule {}

/** Takes up the factories that there are. */
@Global()
@Module({
  providers: [
    {
      provide: FactoryAssignments,
      useFactory: (
        factories: FactoryStore,
        loops: SyncLoops,
        notices: Notices,
        { dataDir, databaseUrl }: Config,
        { factoriesMs }: PollIntervals,
        log: Log,
      ) =>
        new FactoryAssignments({
          factories,
          loops,
          notices,
          forgetSource: (uid) =>
            SOURCES.forget(dataDir, uid).catch((fault: unknown) =>
              log.fault('source cache deletion failed', fault, { factory: uid }),
            ),
          report: (fault) => log.fault('factory assignment poll failed', fault),
          pollMs: databaseUrl === undefined ? undefined : (factoriesMs ?? 'usual'),
        }),
      inject: [FactoryStore, SyncLoops, Notices, CONFIG, PollIntervals, Log],
    },
  ],
  exports: [FactoryAssignments],
})
export class SyncModule {}
