/**
 * What definitions refer to, checked against each other and the running service; names become UIDs here and nowhere
 * else. contract §8, §9.
 */
import { checkAgentReferences, checkRepositories, checkRunSecrets } from './agent-references.ts';
import { checkFilterCost } from './filter-cost.ts';
import { beginCheck, type Check } from './check.ts';
import { byCodeUnits, firstProblems, sortedProblems, TREE_PROBLEMS_MAX } from '../rules/problems.ts';
import { checkTrust } from '../trust/trust.ts';
import { resolveTriggers } from './trigger-references.ts';
import type {
  AutomationDefinition,
  CheckedDefinitions,
  Definitions,
  KnownFacts,
  Reading,
  UnrunCheck,
} from '../types.ts';
import { checkQuota, checkWebhookSecret } from './webhook-references.ts';

/**
 * Checks every reference of a tree and resolves names to UIDs. Facts that are not known are never guessed: what needed
 * them is in `notRun`. Files with an error, and files that refer to one, are held: left out of `definitions` and named
 * in `heldPaths`.
 */
export function checkReferences(reading: Reading, known: KnownFacts): CheckedDefinitions {
  return checked(reading, known, checkTrust);
}

/** The same for single definitions, whose neighbours are not all known: without the rules of trust. */
export function checkValueReferences(reading: Reading, known: KnownFacts): CheckedDefinitions {
  return checked(reading, known, () => undefined);
}

function checked(reading: Reading, known: KnownFacts, checkMore: (check: Check) => void): CheckedDefinitions {
  const check = beginCheck(reading, known);
  // Referred-to kinds first: what they hold back is known when the files that name them are checked.
  for (const environment of both(reading, 'environments')) {
    checkRunSecrets(check, environment.secrets, {
      path: environment.path,
      pointer: '/secrets',
      file: { kind: 'environment', slug: environment.name },
    });
    checkRepositories(check, environment);
  }
  for (const webhook of both(reading, 'webhooks')) checkWebhookSecret(check, webhook);
  checkQuota(check);
  for (const factory of [reading.definitions.factory, reading.unsound.factory]) {
    checkAgentReferences(check, factory.agentDefaults, {
      path: 'factory.yaml',
      pointer: '/agentDefaults',
      file: 'factory',
    });
  }
  for (const automation of reading.unsound.automations) checkAutomation(check, automation);
  const automations = reading.definitions.automations.map((automation) => checkAutomation(check, automation));
  checkFilterCost(check, reading.definitions.automations);
  checkMore(check);
  return {
    definitions: withoutHeld({ ...reading.definitions, automations }, check),
    problems: firstProblems(sortedProblems([...reading.problems, ...check.problems.listed]), TREE_PROBLEMS_MAX),
    heldPaths: [...check.held].sort(byCodeUnits),
    notRun: notRun(known),
  };
}

function both<Kind extends 'environments' | 'webhooks'>(
  reading: Reading,
  kind: Kind,
): Reading['definitions'][Kind][number][] {
  return [...reading.definitions[kind], ...reading.unsound[kind]];
}

function checkAutomation(
  check: Check,
  automation: Reading['definitions']['automations'][number],
): AutomationDefinition {
  const { name: slug, path, agent } = automation;
  checkAgentReferences(check, agent, {
    path,
    pointer: '',
    inherited: check.reading.definitions.factory.agentDefaults,
    file: { kind: 'automation', slug, environment: agent.environmentId },
  });
  return { ...automation, triggers: resolveTriggers(check, automation) };
}

function withoutHeld(definitions: Definitions, check: Check): Definitions {
  const stays = ({ path }: { path: string }) => !check.held.has(path);
  return {
    factory: definitions.factory,
    webhooks: definitions.webhooks.filter(stays),
    automations: definitions.automations.filter(stays),
    environments: definitions.environments.filter(stays),
    skills: definitions.skills.filter(stays),
  };
}

function notRun(known: KnownFacts): UnrunCheck[] {
  const secrets = [...(known.webhookSecrets?.values() ?? [])];
  const unrun: [UnrunCheck, boolean][] = [
    ['secrets', known.webhookSecrets === undefined || known.runSecrets === undefined],
    [
      'secret-values',
      known.webhookSecrets === undefined || secrets.some((secret) => secret.set && secret.usableFor === undefined),
    ],
    ['quota', known.liveWebhooks === undefined],
    [
      'uids',
      known.liveWebhooks === undefined || known.deletedWebhookUids === undefined || known.webhookUidOf === undefined,
    ],
    ['environments', known.environmentUids === undefined],
  ];
  return unrun.filter(([, missing]) => missing).map(([check]) => check);
}
