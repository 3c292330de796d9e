/**
 * Whether the environment, the skill and the secrets that a run is to have exist. contract §3.4, §8.
 */
import { labelOf } from '#contracts';
import { checkAvailability } from './agent-availability.ts';
import { checkSecretName, holdWith, holdWithMisplaced, isFaulty, report, type Check } from './check.ts';
import { isValidName } from '../definition-paths.ts';
import { mayBeNamedIn } from '../run-grants.ts';
import { isReservedVariable } from '../run-secrets.ts';
import type { RuleId } from '../rules/rules.ts';
import { didYouMean, didYouMeanOr, nearest } from '../suggest.ts';
import type { AgentDefaults, EnvironmentDefinition } from '../types.ts';

/** A skill of another repository: owner/repo:skill-name or owner/repo:path/to/SKILL.md. */
const SKILL_SPEC = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+:[^\s:]+$/;

/**
 * Whether a text can name a skill: one of another repository (owner/repo:…), or by its name one of the factory's own.
 * contract §3.4 (AmbientAgentConfig).
 */
export function isSkillReference(text: string): boolean {
  return SKILL_SPEC.test(text) || isValidName(text);
}

/** References of the agent's keys that stand in a place. */
export function checkAgentReferences(check: Check, agent: AgentDefaults | undefined, place: NamingPlace): void {
  if (agent === undefined) return;
  const { path, pointer } = place;
  checkEnvironment(check, path, agent.environmentId, `${pointer}/environmentId`);
  checkModels(check, path, agent, pointer);
  if (!isFaulty(check, path, `${pointer}/harness/type`))
    checkAvailability(check, { path, pointer, own: agent, inherited: place.inherited });
  checkSkill(check, path, agent.skill, `${pointer}/skill`);
  checkRunSecrets(check, agent.secrets, { ...place, pointer: `${pointer}/secrets` });
  checkHeaderSecrets(check, agent.mcpServers, path, `${pointer}/mcpServers`);
}

/** Secrets that headers of MCP servers name: a run that would send one to a host that it is not for is refused. */
function checkHeaderSecrets(check: Check, servers: AgentDefaults['mcpServers'], path: string, pointer: string): void {
  const { releaseProblemOf } = check.known;
  if (releaseProblemOf === undefined) return;
  for (const [server, said] of Object.entries(servers ?? {})) {
    const { url, headers } = (said ?? {}) as { url?: unknown; headers?: Record<string, unknown> };
    if (typeof url !== 'string') continue;
    for (const [header, value] of Object.entries(headers ?? {})) {
      const names = [...String(value).matchAll(SECRET_REFERENCE)].map(([, name = '']) => name);
      const problem = names.map((name) => releaseProblemOf(name, url)).find((one) => one !== undefined);
      if (problem === undefined) continue;
      const at = `${pointer}/${escaped(server)}/headers/${escaped(header)}`;
      report(check, path, at, 'header-secret-host', `${problem}; a run with this MCP server is refused`);
    }
  }
}

const SECRET_REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** As a part of a JSON pointer. */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Where something is named: a pointer into a file, and what that file is of. */
interface NamingPlace {
  path: string;
  pointer: string;
  /** What holds where the place says nothing. */
  inherited?: AgentDefaults | undefined;
  file: Parameters<typeof mayBeNamedIn>[1];
}

/**
 * Secrets that a run is to receive: known to this factory for runs. A name that is not granted looks like one that does
 * not exist.
 */
export function checkRunSecrets(
  check: Check,
  secrets: readonly { name: string }[] | undefined,
  { path, pointer, file }: NamingPlace,
): void {
  const { runSecrets: known, runGrants } = check.known;
  if (secrets === undefined) return;
  // Which secrets an environment brings is not known of one that is not named right
  const isOpen = isFaulty(check, path, '/environmentId');
  const isGranted = (name: string): boolean => isOpen || mayBeNamedIn(runGrants?.get(name) ?? 'files', file);
  const runSecrets = new Set([...(known ?? [])].filter(isGranted));
  for (const [index, { name }] of secrets.entries()) {
    if (name === '') continue;
    const at = `${pointer}/${index}/name`;
    const shown = checkSecretName(check, { path, pointer: at, name, isKnown: runSecrets.has(name) });
    // A name that no secret of a run can have is told of as that
    if (known === undefined || shown === undefined || runSecrets.has(name) || isReservedVariable(name)) continue;
    const hint = didYouMeanOr(name, runSecrets, 'create it first, or grant it to this factory for runs of this file');
    report(check, path, at, 'secret-known', `secret ${shown} is not a secret that runs may use${hint}`);
  }
}

/** Repositories that the operator's list cuts off from runs: the service fetches them all the same. */
export function checkRepositories(check: Check, { path, repositories }: EnvironmentDefinition): void {
  const { unreachedHostOf } = check.known;
  if (unreachedHostOf === undefined || !Array.isArray(repositories)) return;
  for (const [index, repository] of repositories.entries()) {
    const host = repository === null ? undefined : unreachedHostOf(repository);
    if (host === undefined) continue;
    const message =
      `runs do not reach ${host}, for the operator's list does not have it (MILLWRIGHT_RUN_ALLOW_HOSTS): they find ` +
      'what the service has fetched of this repository, and can neither fetch more nor push';
    report(check, path, `/repositories/${index}`, 'repository-reached', message);
  }
}

function checkEnvironment(check: Check, path: string, id: string | undefined, pointer: string): void {
  if (id === undefined) return;
  const file = `environments/${id}.yaml`;
  if (check.held.has(file)) return holdWith(check, path, pointer, `environment ${JSON.stringify(id)}`, file);
  const names = check.reading.definitions.environments.map(({ name }) => name);
  if (names.includes(id)) return;
  if (holdWithMisplaced(check, path, pointer, { what: `environment ${JSON.stringify(id)}`, file })) return;
  const { environmentUids } = check.known;
  if (environmentUids?.has(id) === true) return;
  const meant = didYouMean(id, names);
  const named = `environmentId ${JSON.stringify(id)}`;
  if (environmentUids !== undefined) {
    const message = `${named} is neither declared here nor on the server${meant || `; declare it in ${file}`}`;
    return report(check, path, pointer, 'environment-known', message);
  }
  // Files alone cannot tell that there is none: only that there is nearly one.
  if (meant !== '') report(check, path, pointer, 'environment-near', `${named} is not declared here${meant}`);
}

/**
 * Models and harnesses that no list of the server has: any may be named, and few are meant. Models of a harness have
 * names of its own, so that only what is nearly one of the list is told of.
 */
function checkModels(check: Check, path: string, { model, harness }: AgentDefaults, pointer: string): void {
  const { models, harnesses } = check.known;
  const isOff = (found: string | undefined, known: ReadonlySet<string> | undefined): found is string =>
    found !== undefined && known !== undefined && known.size > 0 && !known.has(found) && !MODEL_BY_DEFAULT.test(found);
  const tell = (at: string, rule: RuleId, found: string, known: ReadonlySet<string>): void => {
    const listed = [...known].slice(0, LISTED_MAX).join(', ') + (known.size > LISTED_MAX ? ' …' : '');
    const hint = didYouMean(found, known) || `; it has ${listed}`;
    const named = `${labelOf(pointer + at)} ${JSON.stringify(found)}`;
    report(check, path, pointer + at, rule, `${named} is not on the server's list${hint}`);
  };
  if (models !== undefined && isOff(model, models)) tell('/model', 'model-known', model, models);
  const modelId = harness?.modelId;
  if (models !== undefined && isOff(modelId, models) && nearest(modelId, models) !== undefined)
    tell('/harness/modelId', 'model-known', modelId, models);
  const type = harness?.type;
  if (harnesses !== undefined && isOff(type, harnesses)) tell('/harness/type', 'harness-known', type, harnesses);
}

/** The model that the installation has. contract §8.6 (Definitions of the hosted format). */
const MODEL_BY_DEFAULT = /^auto(?:-|$)/;

/** Names that a message lists; a server has dozens of models. */
const LISTED_MAX = 5;

function checkSkill(check: Check, path: string, skill: string | undefined, pointer: string): void {
  if (skill === undefined || SKILL_SPEC.test(skill)) return;
  const file = `skills/${skill}/SKILL.md`;
  if (check.held.has(file)) return holdWith(check, path, pointer, `skill ${JSON.stringify(skill)}`, file);
  const names = check.reading.definitions.skills.map(({ name }) => name);
  if (names.includes(skill)) return;
  if (holdWithMisplaced(check, path, pointer, { what: `skill ${JSON.stringify(skill)}`, file })) return;
  const meant = nameInPath(skill);
  const hint = names.includes(meant)
    ? `; did you mean ${JSON.stringify(meant)}?`
    : didYouMean(meant, names) || `; add skills/${meant}/SKILL.md, or write owner/repo:skill-name`;
  report(check, path, pointer, 'skill-known', `skill ${JSON.stringify(skill)} is not declared here${hint}`);
}

/** The name of a skill that is named by its file or folder. */
function nameInPath(skill: string): string {
  return /^(?:\.?\/)?(?:skills\/)?([^/]+)(?:\/SKILL\.md|\/)?$/i.exec(skill)?.[1] ?? skill;
}
