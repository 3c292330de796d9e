/** What a server knows that files refer to, for `validate --server`. contract §2, §8.4, §11. */
import type { AgentsHere, KnownFacts, RunGrant, SecretFacts } from '#definitions';
import { releaseProblemOf } from '#isolation';
import type { ModelList, Secret } from '#client';
import { connect } from './api.ts';
import { CommandError, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory } from './name-resolution.ts';
import { all, PAGE_SIZE_MAX } from './pages.ts';
import type { CommandIo } from '../verbs/validate.ts';

/**
 * Secrets by name and whether they are set, environments, models, harnesses. Whether a value suits a mode is for the
 * server to say. Throws CommandError.
 */
export async function factsOfServer(
  { server, factory: named, keyFile }: { server: string; factory?: string; keyFile?: string },
  io: CommandIo,
): Promise<KnownFacts> {
  const api = await connect({ server, keyFile }, { ...io, environment: io.environment ?? {} } as CliIo);
  const factory = await findFactory(api, named);
  const own = await all(api.factories.secrets.list(factory.uid, { limit: PAGE_SIZE_MAX })).catch(rethrowWithReason);
  const team = await all(api.secrets.list({ limit: PAGE_SIZE_MAX })).catch(rethrowWithReason);
  const granted = (use: 'webhook' | 'run'): Secret[] =>
    [...team, ...own].filter(
      ({ owner, grants: { factories, uses } }) =>
        uses.includes(use) && (owner === factory.uid || factories === '*' || factories.includes(factory.uid)),
    );
  // A factory's own secret comes before the team's of the same name.
  const webhookSecrets = new Map<string, SecretFacts>(granted('webhook').map(({ name, set }) => [name, { name, set }]));
  const runSecrets = granted('run');
  const { environments } = await api.agent.environments.list();
  const { models, harnesses, availability } = await api.agent.models.list();
  return {
    environmentUids: new Set(environments.filter(({ factory_uid: uid }) => uid === factory.uid).map(({ uid }) => uid)),
    models: new Set(models.filter(({ source }) => source === 'server').map(({ id }) => id)),
    ...(harnesses === undefined ? {} : { harnesses: new Set(harnesses) }),
    ...(availability && { agentsHere: toAgentsHere(availability) }),
    webhookSecrets,
    runSecrets: new Set(runSecrets.map(({ name }) => name)),
    releaseProblemOf: releaseProblemOf(new Map(runSecrets.map(({ name, grants }) => [name, grants.hosts ?? null]))),
    runGrants: new Map(runSecrets.map(({ name, grants }) => [name, (grants.runs ?? 'files') as RunGrant])),
  };
}

function toAgentsHere(said: NonNullable<ModelList['availability']>): AgentsHere {
  return {
    harness: said.default_harness,
    builtIn: new Set(said.built_in_harnesses),
    hasDemoModelOnly: said.demo_model_only,
    installed: said.installed_harnesses,
    missing: new Map(said.missing_harnesses.map(({ id, way_out: wayOut }) => [id, wayOut])),
  };
}

/** Names that this key may not read would appear as missing. */
function rethrowWithReason(cause: unknown): never {
  if (!(cause instanceof CommandError) || (cause.code !== EXIT.notAllowed && cause.code !== EXIT.notFound)) throw cause;
  throw new CommandError(`the secrets cannot be listed: ${cause.message}`, cause.code, [], { cause });
}
