/** What a tree names that only a server can resolve, as the hosted service lists it. contract §3.12 (deferred). */
import { unescapeSegment } from '#contracts';
import type { RunSecret } from '../run-secrets.ts';
import type { AgentDefaults, Problem, Reading, WrittenDefinitions } from '../types.ts';

/** A name that nobody has looked up. */
export type DeferredResolution = {
  path: string;
  /** The key that holds it, dotted from the file's root, as the file has it. */
  field: string;
  kind: 'secret' | 'environment' | 'model' | 'harness' | 'webhook' | 'skill';
};

/** The same, by a pointer into the document in our words. */
type DeferredName = Omit<DeferredResolution, 'field'> & { pointer: string };

/** Every such name of a tree's definitions, kind by kind. `areSecretsKnown`: names of secrets were checked. */
export function deferredResolutions(
  { definitions, positions }: Reading,
  areSecretsKnown: boolean,
): DeferredResolution[] {
  const found: DeferredName[] = [
    ...ofFactory(definitions),
    ...definitions.automations.flatMap(({ path, agent, triggers }) => [
      ...ofAgent(path, '', agent, definitions),
      ...triggers.flatMap((trigger, index) =>
        trigger.provider === 'webhook' && trigger.webhookIds.length > 0
          ? [{ path, pointer: `/triggers/${index}/filter/webhook_ids`, kind: 'webhook' } as const]
          : [],
      ),
    ]),
    ...definitions.environments.flatMap(({ path, secrets }) => ofSecrets(path, '', secrets)),
    ...definitions.webhooks.map(({ path }) => ({ path, pointer: '/secretName', kind: 'secret' }) as const),
  ];
  return found
    .filter(({ kind }) => !areSecretsKnown || kind !== 'secret')
    .map(({ path, pointer, kind }) => ({
      path,
      field: dotted(positions.get(path)?.written(pointer) ?? pointer),
      kind,
    }));
}

/** `/triggers/0/filter` as people write it: `triggers[0].filter`. */
function dotted(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map(unescapeSegment)
    .reduce((before, key) => (/^\d+$/.test(key) ? `${before}[${key}]` : `${before}.${key}`));
}

/** What the hosted service's script does not send: the rule that misses it, its folder, the key that names it. */
const UNSENT: readonly (readonly [rule: string, folder: string, field: string, kind: DeferredResolution['kind']])[] = [
  ['webhook-known', 'webhooks/', 'triggers', 'webhook'],
  ['skill-known', 'skills/', 'skill', 'skill'],
];

/**
 * Problems of a tree of which whole folders may be left out: what is missed in a folder that nothing came of is no
 * problem but deferred.
 */
export function withoutUnsent(
  problems: readonly Problem[],
  paths: readonly string[],
): { problems: Problem[]; deferred: DeferredResolution[] } {
  const rowOf = ({ rule }: Problem): (typeof UNSENT)[number] | undefined =>
    UNSENT.find(([missing, folder]) => missing === rule && !paths.some((path) => path.startsWith(folder)));
  return {
    problems: problems.filter((problem) => rowOf(problem) === undefined),
    deferred: problems.flatMap((problem) => {
      const [, , field, kind] = rowOf(problem) ?? [];
      return field === undefined || kind === undefined ? [] : [{ path: problem.path, field, kind }];
    }),
  };
}

function ofFactory({ factory, ...definitions }: WrittenDefinitions): DeferredName[] {
  return ofAgent('factory.yaml', '/agentDefaults', factory.agentDefaults, { factory, ...definitions });
}

function ofAgent(
  path: string,
  prefix: string,
  agent: AgentDefaults | undefined,
  { environments }: WrittenDefinitions,
): DeferredName[] {
  const { model, harness, environmentId, secrets } = agent ?? {};
  const isDeclared = environments.some(({ name }) => name === environmentId);
  const named = [
    ['/model', 'model', model],
    ['/harness/type', 'harness', harness?.type],
    ['/harness/modelId', 'model', harness?.modelId],
    ['/environmentId', 'environment', isDeclared ? undefined : environmentId],
  ] as const;
  return [
    ...named.flatMap(([key, kind, value]) => (value === undefined ? [] : [{ path, pointer: prefix + key, kind }])),
    ...ofSecrets(path, prefix, secrets),
  ];
}

function ofSecrets(path: string, prefix: string, secrets: readonly RunSecret[] = []): DeferredName[] {
  return secrets.map((_secret, index) => ({ path, pointer: `${prefix}/secrets/${index}/name`, kind: 'secret' }));
}
