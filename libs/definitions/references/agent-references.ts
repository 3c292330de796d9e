/**
 * Whether the environment, the skill and the secrets that a run is to have exist. contract §3.4, §8.
 */
import { holdWith, report, type Check } from './check.ts';
import { isValidName } from '../definition-paths.ts';
import { mayBeNamedIn } from '../run-grants.ts';
import { isReservedVariable } from '../run-secrets.ts';
import { didYouMean } from '../suggest.ts';
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
  checkSkill(check, path, agent.skill, `${pointer}/skill`);
  checkRunSecrets(check, agent.secrets, { ...place, pointer: `${pointer}/secrets` });
}

/** Where something is named: a pointer into a file, and what that file is of. */
interface NamingPlace {
  path: string;
  pointer: string;
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
  if (known === undefined || secrets === undefined) return;
  const runSecrets = new Set([...known].filter((name) => mayBeNamedIn(runGrants?.get(name) ?? 'files', file)));
  for (const [index, { name }] of secrets.entries()) {
    // A name that no secret of a run can have is told of as that
    if (runSecrets.has(name) || isReservedVariable(name)) continue;
    const hint = didYouMean(name, runSecrets) || '; create it first, or grant it to this factory for runs of this file';
    report(
      check,
      path,
      `${pointer}/${index}/name`,
      'secret-known',
      `secret ${JSON.stringify(name)} is not a secret that runs may use${hint}`,
    );
  }
}

/** Repositories that the operator's list cuts off from runs: the service fetches them all the same. */
export function checkRepositories(check: Check, { path, repositories }: EnvironmentDefinition): void {
  const { unreachedHostOf } = check.known;
  if (unreachedHostOf === undefined || !Array.isArray(repositories)) return;
  for (const [index, repository] of repositories.entries()) {
    const host = unreachedHostOf(repository);
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
  const { environmentUids } = check.known;
  if (environmentUids === undefined || environmentUids.has(id)) return;
  const hint = didYouMean(id, names) || `; declare it in ${file}`;
  report(
    check,
    path,
    pointer,
    'environment-known',
    `environmentId ${JSON.stringify(id)} is neither declared here nor on the server${hint}`,
  );
}

function checkSkill(check: Check, path: string, skill: string | undefined, pointer: string): void {
  if (skill === undefined || SKILL_SPEC.test(skill)) return;
  const file = `skills/${skill}/SKILL.md`;
  if (check.held.has(file)) return holdWith(check, path, pointer, `skill ${JSON.stringify(skill)}`, file);
  const names = check.reading.definitions.skills.map(({ name }) => name);
  if (names.includes(skill)) return;
  const hint = didYouMean(skill, names) || `; add ${file}, or write owner/repo:skill-name`;
  report(check, path, pointer, 'skill-known', `skill ${JSON.stringify(skill)} is not declared here${hint}`);
}
