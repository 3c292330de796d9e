/** The parts of the API that are about factories and their definitions. */
import { randomBytes } from 'node:crypto';
import { AutomationService } from '../automations/automations.service.ts';
import { DeliveryService } from '../deliveries/deliveries.service.ts';
import { questionSemaphore } from '../filters/bounded-work.ts';
import { FilterReplayService } from '../filters/filter-replays.service.ts';
import { FilterSuggestionService } from '../filters/filter-suggestions.service.ts';
import { FilterTestService } from '../filters/filter-tests.service.ts';
import { FactoryHistory } from '../factories/factory-history.service.ts';
import { PlanService } from '../plans/plans.service.ts';
import { PushNoticeService } from '../push-notices/push-notices.service.ts';
import { PushRateLimiter } from '../push-notices/push-rate-limiter.ts';
import { Replays } from '../plans/delivery-replays.ts';
import { FactoryService } from '../factories/factories.service.ts';
import { FactoryFileService } from '../factory-files/factory-files.service.ts';
import { SecretFingerprints } from '../secrets/secret-fingerprints.ts';
import { StatisticsService } from '../statistics/statistics.service.ts';
import { WebhookService } from '../webhooks/webhooks.service.ts';
import type { ReconcilingParts } from './reconciling.ts';
import { monotonicMs, type ServiceDeps } from './surroundings.ts';

/** What controllers are given to work on factories: their life, plans, histories and definitions. */
export function factoryParts(around: ServiceDeps, reconciling: ReconcilingParts): object[] {
  const { config, stores, vault, uidKey, notices, nowMs, newId } = around;
  const { factories, definitions, deliveries, events, webhooks } = stores;
  const fingerprints = new SecretFingerprints(stores.secrets, vault, uidKey);
  const turns = questionSemaphore();
  return [
    factories,
    new FactoryService({ factories, definitions, inventory: stores.inventory, events }, reconciling.loops, {
      uidKey,
      allowLocalSources: config.allowLocalSources,
      newId,
      async changed(uid) {
        notices.publish('factory', uid);
        await reconciling.roster?.follow(uid);
      },
      isAttended: async () =>
        config.roles.has('sync') || (await stores.replicas.living()).some(({ roles }) => roles.includes('sync')),
    }),
    new FactoryHistory(factories, events, stores.revisions, stores.replicas),
    new PlanService(
      reconciling.ground,
      { traffic: stores.traffic, replays: new Replays(deliveries, turns), fingerprints, nowMs },
      config.ingressUrl,
    ),
    new FilterTestService(factories, definitions, deliveries, turns),
    new FilterReplayService(factories, definitions, deliveries, turns),
    new FilterSuggestionService(factories, definitions, deliveries, turns),
    new DeliveryService(factories, webhooks, deliveries, config),
    new FactoryFileService(config.publicUrl),
    new StatisticsService(stores.statistics, factories, { nowMs, monotonicMs }),
    pushNotices(around, reconciling),
    ...definitionParts(around, reconciling),
  ];
}

/** A burst of pushes wakes a factory once. */
function pushNotices(
  { stores: { factories }, log, nowMs }: ServiceDeps,
  { loops, secretReader }: ReconcilingParts,
): PushNoticeService {
  const pace = new PushRateLimiter(factories, loops, {
    nowMs: monotonicMs,
    later: (ms, act) => void setTimeout(act, ms).unref(),
    report: (fault) => log.fault('a push notice could not wake its factory', fault),
  });
  return new PushNoticeService(factories, secretReader, pace, {
    nowMs,
    warn: (slug) =>
      log.warn(
        'push notices are refused: the secret that source.push_secret names has no value of eight bytes or more, or is not granted for the use forge',
        { factory: slug },
      ),
  });
}

/** Webhooks and automations of factories without files. */
function definitionParts(
  { config, stores, uidKey, log, nowMs, newId }: ServiceDeps,
  { publish, secrets }: ReconcilingParts,
): object[] {
  const { factories, webhooks, automations, schedules, edits } = stores;
  const editing = {
    uidKey,
    newId,
    // What is committed is committed: memory that could not follow is found out by the next delivery.
    changed: () => publish().catch((fault: unknown) => log.fault('the serving state could not be read', fault)),
  };
  return [
    new WebhookService(factories, webhooks, automations, edits, {
      ...editing,
      ingressUrl: config.ingressUrl,
      random: () => randomBytes(32),
      sealing: (value) => secrets.sealing(value),
    }),
    new AutomationService(factories, automations, schedules, webhooks, edits, { ...editing, nowMs }),
  ];
}
