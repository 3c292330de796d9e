/**
 * Agent identities: what a request makes of one, what of it is not served, and what its runs begin with. contract §3.14
 * (Agent identities).
 */
import { escapeSegment } from '#contracts';
import { harnessNamed, publishedHarness, withoutAbsent, type AmbientAgentConfig } from './agent-config.ts';

/** What is stored of an identity beside its name; members that nobody set are absent. */
export interface AgentIdentitySettings {
  description?: string;
  agent_type?: string;
  prompt?: string;
  base_model?: string;
  harness?: { type?: string; model_id?: string; reasoning_level?: string };
  environment_id?: string;
  worker_host?: string;
  mcp_servers?: Record<string, unknown>;
  skills?: string[];
  secrets?: { name: string }[];
}

/** One thing wrong with a request, by its JSON pointer. */
export interface IdentityProblem {
  pointer: string;
  message: string;
}

type Members = Readonly<Record<string, unknown>>;

const TEXTS = ['description', 'agent_type', 'prompt', 'base_model', 'environment_id', 'worker_host'] as const;
const LISTS = ['mcp_servers', 'skills', 'secrets'] as const;
const WORKER_HOST = /^[A-Za-z0-9._-]{1,255}$/;

const RUNNERS = 'there are no runners: name an environment or a worker_host';
const UNSERVED: Readonly<Record<string, string>> = {
  credential_strategy: 'runs have the secrets that their grants give them, whoever began them',
  default_runner_uid: RUNNERS,
  harness_auth_secrets: 'the profile of a harness names its secrets',
  inference_providers: 'the operator says where models are called',
  memory: 'nothing is remembered between runs',
  on_behalf_of_enabled: 'a run belongs to who began it',
};

/** Members of a request that would be lost, each with the reason; those that ask for nothing are none. */
export function unservedMembers(request: Members): IdentityProblem[] {
  const unserved = Object.entries(UNSERVED).flatMap(([name, why]) =>
    asksForNothing(request[name]) ? [] : [{ pointer: `/${name}`, message: `${name} is not served here: ${why}` }],
  );
  return [...unserved, ...unservedServers(request['mcp_servers'])];
}

/** Servers that only the hosted service has. */
function unservedServers(servers: unknown): IdentityProblem[] {
  if (typeof servers !== 'object' || servers === null) return [];
  return Object.entries(servers).flatMap(([name, server]) =>
    asksForNothing((server as { warp_id?: unknown } | null)?.warp_id)
      ? []
      : [
          {
            pointer: `/mcp_servers/${escapeSegment(name)}`,
            message: `${name} is not served here: give its command or url`,
          },
        ],
  );
}

/** Empty in every part: nothing that somebody would miss. */
function asksForNothing(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(asksForNothing);
  return value === undefined || value === null || value === false || value === '';
}

/** Everything that is wrong with a change and that a schema cannot say. `settings`: as they would be. */
export function identityProblems(request: Members, settings: AgentIdentitySettings): IdentityProblem[] {
  const { harness, base_model: model, worker_host: host, secrets = [] } = settings;
  const type = harnessNamed(harness?.type);
  const problems: IdentityProblem[] = [];
  const add = (pointer: string, message: string): void => void problems.push({ pointer, message });
  const base = request['base_harness'];
  const said = (request['harness'] as AgentIdentitySettings['harness'] | null | undefined)?.type;
  if (typeof base === 'string' && base !== '' && said !== undefined && harnessNamed(base) !== harnessNamed(said))
    add('/base_harness', 'must be the type of harness, where both are given');
  if (type !== undefined && type !== 'builtin' && model !== undefined)
    add('/base_model', 'must be empty with another harness: its model is harness.model_id');
  if (host !== undefined && !WORKER_HOST.test(host)) add('/worker_host', 'must be the name of a machine');
  const names = secrets.map(({ name }) => name);
  if (new Set(names).size < names.length) add('/secrets', 'must name each secret once');
  if ('secrets_append' in request && Object.values(request).filter((value) => value !== undefined).length > 1)
    add('/secrets_append', 'must be the only member of a request');
  return problems;
}

/** Settings behind a request: what is left out or null stays, what is empty goes. */
export function changedIdentity(before: AgentIdentitySettings, request: Members): AgentIdentitySettings {
  const after: Record<string, unknown> = { ...before };
  const put = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    const isEmpty = value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
    after[name] = isEmpty ? undefined : value;
  };
  for (const name of TEXTS) put(name, typeof request[name] === 'string' ? request[name].trim() : undefined);
  for (const name of LISTS) put(name, request[name]);
  const { base_harness: base, secrets_append: more } = request;
  if (typeof base === 'string') put('harness', base === '' ? {} : { type: base });
  put('harness', knownHarness(request['harness']));
  if (Array.isArray(request['secrets'])) put('secrets', named(request['secrets']));
  if (Array.isArray(more)) {
    const held = before.secrets ?? [];
    const all = [...held, ...named(more)];
    put('secrets', [...new Map(all.map((secret) => [secret.name, secret])).values()]);
  }
  return withoutAbsent(after);
}

function knownHarness(harness: unknown): unknown {
  if (typeof harness !== 'object' || harness === null) return undefined;
  const { type, model_id: model, reasoning_level: level } = harness as NonNullable<AgentIdentitySettings['harness']>;
  return withoutAbsent({
    type: type === '' ? undefined : type,
    model_id: model === '' ? undefined : model,
    reasoning_level: level === '' ? undefined : level,
  });
}

function named(secrets: readonly unknown[]): { name: string }[] {
  return secrets.map((secret) => ({ name: (secret as { name: string }).name }));
}

/** What the runs of an identity begin with, as a level of their configuration. */
export function identityConfig(settings: AgentIdentitySettings): AmbientAgentConfig {
  return withoutAbsent({
    model_id: settings.base_model,
    base_prompt: settings.prompt,
    environment_id: settings.environment_id,
    skills: settings.skills,
    mcp_servers: settings.mcp_servers,
    harness: settings.harness,
    worker_host: settings.worker_host,
    secrets: settings.secrets,
  });
}

/** The settings as published clients know them. */
export function publishedIdentity(settings: AgentIdentitySettings) {
  const { skills = [], secrets = [], harness, ...own } = settings;
  const published = harness && publishedHarness({ harness: withoutAbsent({ ...harness }) }).harness;
  return withoutAbsent({ ...own, harness: published, base_harness: published?.type, skills, secrets });
}
