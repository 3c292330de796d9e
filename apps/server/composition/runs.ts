/** The parts of the API that are about runs: starting them, and telling what they do. */
import { ExplanationService } from '../explanations/explanations.service.ts';
import { profileOf } from '../execution/agent/agents.ts';
import { harnessOf, serverAgent } from '../execution/preparation/execution-spec.ts';
import { ArtifactService } from '../runs/artifacts.service.ts';
import { CatalogueService } from '../runs/catalogue.service.ts';
import { EventStreams } from '../runs/event-streams.ts';
import { HistoryService } from '../runs/run-history.service.ts';
import { RunListing } from '../runs/run-list.service.ts';
import { PermissionService } from '../runs/permissions.service.ts';
import { RunItems } from '../runs/run-item-loader.ts';
import { RunService } from '../runs/runs.service.ts';
import type { Engine } from '../execution/engine/engine.ts';
import type { RunDeps } from './execution.ts';
import { monotonicMs, type ServiceDeps } from './surroundings.ts';

/** Where other processes do the work, nobody here knows of more than one free place. */
const PLACES_ELSEWHERE = 1;

/** What controllers are given to work on runs, and the streams that end with the service. `engine`: the one of this process, where it works on runs. */
export function runParts(
  { config, stores, builtInAgent, profiles, pollIntervals, nowMs, newId }: ServiceDeps,
  { news, waitingRuns, disk, wake, tell }: RunDeps,
  engine: Engine | undefined,
): { eventStreams: EventStreams; instances: object[] } {
  const { accounts, artifacts, runs, histories, factories, definitions, deliveries, explanations } = stores;
  const runItems = new RunItems(accounts, artifacts, runs, config.publicUrl, monotonicMs);
  const eventStreams = new EventStreams(runs, news, monotonicMs, pollIntervals.streamsMs);
  const runService = new RunService(runs, histories, factories, definitions, runItems, {
    publicUrl: config.publicUrl,
    serverAgent: serverAgent(config),
    nowMs,
    newId,
    waitingRuns,
    wake,
    tell,
    freePlaces: () => engine?.freePlaces() ?? PLACES_ELSEWHERE,
    takesPromptsInTurn: (agentConfig) =>
      profileOf(harnessOf(agentConfig), builtInAgent, profiles)?.concurrentPrompt === true,
    isDiskLow: () => disk.isLow(),
  });
  const instances = [
    runService,
    eventStreams,
    new HistoryService(runs, histories),
    new ArtifactService(artifacts, config.publicUrl),
    new CatalogueService(stores.catalogue, config.models),
    new RunListing(stores.runLists, runs, runItems),
    new PermissionService(runs, stores.permissions, { newId, changed: (runId) => [wake(), tell(runId)] }),
    new ExplanationService({ explanations, deliveries, runs, runItems, factories }),
  ];
  return { eventStreams, instances };
}
