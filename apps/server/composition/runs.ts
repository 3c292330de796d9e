/** The parts of the API that are about runs: starting them, and telling what they do. */
import { ExplanationService } from '../explanations/service.ts';
import { profileOf } from '../execution/agents.ts';
import { harnessOf, serverAgent } from '../execution/outfits.ts';
import { ArtifactService } from '../runs/artifacts.ts';
import { CatalogueService } from '../runs/catalogue.ts';
import { EventStreams } from '../runs/event-streams.ts';
import { HistoryService } from '../runs/histories.ts';
import { RunListing } from '../runs/listing.ts';
import { PermissionService } from '../runs/permissions-service.ts';
import { RunItems } from '../runs/run-items.ts';
import { RunService } from '../runs/service.ts';
import type { ExecutionParts } from './execution.ts';
import { monotonicMs, type Surroundings } from './surroundings.ts';

/** What controllers are given to work on runs, and the streams that end with the service. */
export function runParts({ config, stores, builtInAgent, profiles, nowMs, newId }: Surroundings, { engine, news, waitingRuns, disk }: ExecutionParts): { eventStreams: EventStreams; instances: object[] } {
  const { accounts, artifacts, runs, histories, factories, definitions, deliveries, explanations } = stores;
  const runItems = new RunItems(accounts, artifacts, runs, config.publicUrl, monotonicMs);
  const eventStreams = new EventStreams(runs, news, monotonicMs);
  const runService = new RunService(runs, histories, factories, definitions, runItems, {
    publicUrl: config.publicUrl, serverAgent: serverAgent(config), nowMs, newId, waitingRuns,
    wake: () => engine.wake(),
    tell: (runId) => news.tell(runId),
    freePlaces: () => engine.freePlaces(),
    takesPromptsInTurn: (agentConfig) => profileOf(harnessOf(agentConfig), builtInAgent, profiles)?.concurrentPrompt === true,
    isDiskLow: () => disk.isLow(),
  });
  const instances = [
    runService, eventStreams, new HistoryService(runs, histories), new ArtifactService(artifacts, config.publicUrl), new CatalogueService(stores.catalogue, config.models),
    new RunListing(stores.runLists, runs, runItems),
    new PermissionService(runs, stores.permissions, { newId, changed: (runId) => [engine.wake(), news.tell(runId)] }),
    new ExplanationService({ explanations, deliveries, runs, runItems, factories }),
  ];
  return { eventStreams, instances };
}
