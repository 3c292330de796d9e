/**
 * What files of the hosted service's format say in other words, put into ours before anything is checked; what has no
 * meaning here is taken out and told of. contract §8.6 (Definitions of the hosted format).
 */
import { escapeSegment, HOSTED_KEYS, HOSTED_SCHEMA_VERSION, type DefinitionSchemaName } from '#contracts';
import type { JsonValue } from '#filters';
import { MODEL_KEY_VARIABLES } from '../run-secrets.ts';
import type { FilePositions } from '../types.ts';

type Mapping = { [key: string]: JsonValue };

/** A part of a document that is ignored. */
export interface LostPart {
  pointer: string;
  /** How people call it. */
  label: string;
  /** What is not done because of that. */
  loss: string;
}

export interface ServedDocument {
  value: Mapping;
  /** Of the document as it is written, asked for by pointers into `value`. */
  positions: FilePositions;
  lost: LostPart[];
}

/** The document in our words. Never changes `written`. */
export function servedDocument(name: DefinitionSchemaName, written: Mapping, positions: FilePositions): ServedDocument {
  const reader: HostedReader = { name, moved: new Map(), lost: [] };
  const root = withoutHostedKeys(written, '', reader);
  const value = SHAPES[name](root, reader);
  return { value, positions: positionsOf(positions, reader.moved), lost: reader.lost };
}

interface HostedReader {
  name: DefinitionSchemaName;
  /** Pointer into the document in our words → where that is written. */
  moved: Map<string, string>;
  lost: LostPart[];
}

const SHAPES: Readonly<Record<DefinitionSchemaName, (value: Mapping, reader: HostedReader) => Mapping>> = {
  factory: factoryShape,
  webhook: (value) => withoutNulls(value, ['description']),
  environment: (value, reader) => withSecretEntries(withoutNulls(value, ['description']), '', reader),
  automation: (value, reader) => {
    const shaped = agentShape(value, '', reader);
    const { triggers } = shaped;
    if (!Array.isArray(triggers)) return shaped;
    return {
      ...shaped,
      triggers: triggers.map((trigger, index) => triggerShape(trigger, `/triggers/${index}`, reader)),
    };
  },
};

function positionsOf(positions: FilePositions, moved: ReadonlyMap<string, string>): FilePositions {
  if (moved.size === 0) return positions;
  const at = (pointer: string): string => {
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
      const from = moved.get(pointer.slice(0, end));
      if (from !== undefined) return from + pointer.slice(end);
    }
    return pointer;
  };
  return {
    value: (pointer) => positions.value(at(pointer)),
    key: (pointer) => positions.key(at(pointer)),
    plainText: (pointer) => positions.plainText(at(pointer)),
    written: (pointer) => positions.written(at(pointer)),
  };
}

function withoutHostedKeys(value: Mapping, pointer: string, { name, lost }: HostedReader): Mapping {
  const losses = HOSTED_KEYS[name][pointer] ?? {};
  const lossOf = (key: string): string | undefined => (Object.hasOwn(losses, key) ? losses[key] : undefined);
  const isVersion = (key: string): boolean => pointer === '' && key === 'schemaVersion';
  if (!Object.keys(value).some((key) => isVersion(key) || lossOf(key) !== undefined)) return value;
  const kept = Object.entries(value).filter(([key, member]) => {
    const version = isVersion(key) && member !== HOSTED_SCHEMA_VERSION;
    const loss = version ? `the file is read as ${HOSTED_SCHEMA_VERSION}` : lossOf(key);
    if (loss !== undefined && member !== null && member !== '')
      lost.push({ pointer: `${pointer}/${escapeSegment(key)}`, label: labelled(pointer, key), loss });
    return loss === undefined && !isVersion(key);
  });
  return Object.fromEntries(kept);
}

function labelled(pointer: string, key: string): string {
  return `${pointer.slice(1).replaceAll('/', '.')}${pointer === '' ? '' : '.'}${key}`;
}

/** Secrets and MCP servers of the whole factory are defaults of its agents here. */
function factoryShape(root: Mapping, reader: HostedReader): Mapping {
  const { secrets, mcpServers, agentDefaults = {}, ...rest } = withoutNulls(root, ['description']);
  if (!isMapping(agentDefaults)) return root;
  const own = agentShape(withoutHostedKeys(agentDefaults, '/agentDefaults', reader), '/agentDefaults', reader);
  if (secrets === undefined && mcpServers === undefined)
    return root['agentDefaults'] === undefined ? rest : { ...rest, agentDefaults: own };
  const shared = { ...(secrets === undefined ? {} : { secrets }), ...(mcpServers === undefined ? {} : { mcpServers }) };
  const whole = withSecretEntries(withServers(shared, '', reader), '', reader);
  return { ...rest, agentDefaults: merged(own, whole, reader) };
}

function merged(own: Mapping, whole: Mapping, { moved }: HostedReader): Mapping {
  const { secrets, mcpServers } = whole;
  const both = { ...own };
  if (Array.isArray(secrets) && Array.isArray(own['secrets'])) {
    const names = new Set(own['secrets'].map(nameOf));
    const list = [...own['secrets']];
    for (const [index, secret] of secrets.entries()) {
      if (names.has(nameOf(secret))) continue;
      moveBelow(moved, `/agentDefaults/secrets/${list.length}`, `/secrets/${index}`);
      list.push(secret);
    }
    both['secrets'] = list;
  } else if (secrets !== undefined && (own['secrets'] === undefined || !Array.isArray(secrets))) {
    moveBelow(moved, '/agentDefaults/secrets', '/secrets');
    both['secrets'] = secrets;
  }
  if (mcpServers === undefined) return both;
  const servers = own['mcpServers'] === undefined ? {} : own['mcpServers'];
  if (isMapping(mcpServers) && isMapping(servers)) {
    for (const server of Object.keys(mcpServers))
      if (!Object.hasOwn(servers, server))
        moved.set(`/agentDefaults/mcpServers/${escapeSegment(server)}`, `/mcpServers/${escapeSegment(server)}`);
    both['mcpServers'] = { ...mcpServers, ...servers };
  } else if (own['mcpServers'] === undefined || !isMapping(mcpServers)) {
    moved.set('/agentDefaults/mcpServers', '/mcpServers');
    both['mcpServers'] = mcpServers;
  }
  return both;
}

/** A place, with what was moved below it already. */
function moveBelow(moved: Map<string, string>, to: string, from: string): void {
  for (const [place, written] of moved)
    if (place === from || place.startsWith(`${from}/`)) moved.set(to + place.slice(from.length), written);
  moved.set(to, moved.get(from) ?? from);
}

function nameOf(secret: JsonValue): JsonValue | undefined {
  return isMapping(secret) ? secret['name'] : secret;
}

/** The keys that say how an agent runs. */
function agentShape(keys: Mapping, at: string, reader: HostedReader): Mapping {
  const said = withoutNulls(keys, ['model', 'environmentId', 'harness', ...(at === '' ? ['description'] : [])]);
  return withHarness(withSecretEntries(withServers(said, at, reader), at, reader), at, reader);
}

function withoutNulls(keys: Mapping, nullable: readonly string[]): Mapping {
  if (!nullable.some((key) => keys[key] === null)) return keys;
  return Object.fromEntries(Object.entries(keys).filter(([key, value]) => value !== null || !nullable.includes(key)));
}

/** `secrets: [NAME]` is `secrets: [{name: NAME}]`. */
function withSecretEntries(keys: Mapping, at: string, { moved }: HostedReader): Mapping {
  const { secrets } = keys;
  if (!Array.isArray(secrets) || !secrets.some((secret) => typeof secret === 'string')) return keys;
  const entries = secrets.map((secret, index) => {
    if (typeof secret !== 'string') return secret;
    moved.set(`${at}/secrets/${index}/name`, `${at}/secrets/${index}`);
    return { name: secret };
  });
  return { ...keys, secrets: entries };
}

/** MCP servers that the hosted service keeps are not there. */
function withServers(keys: Mapping, at: string, { lost }: HostedReader): Mapping {
  const { mcpServers } = keys;
  if (!isMapping(mcpServers)) return keys;
  const hosted = Object.entries(mcpServers).filter(([, server]) => isMapping(server) && 'warpId' in server);
  if (hosted.length === 0) return keys;
  const rest = Object.entries(mcpServers).flatMap(([name, server]): [string, JsonValue][] => {
    if (!isMapping(server) || !('warpId' in server)) return [[name, server]];
    const { warpId: _id, ...own } = server;
    return Object.keys(own).length === 0 ? [] : [[name, own]];
  });
  const [first] = hosted as [[string, JsonValue]];
  const names = hosted.map(([name]) => name).slice(0, NAMES_MAX);
  const more = hosted.length > NAMES_MAX ? ', …' : '';
  lost.push({
    pointer: `${at}/mcpServers/${escapeSegment(first[0])}/warpId`,
    label: labelled(at, `mcpServers: warpId of ${names.join(', ').slice(0, NAMES_LENGTH_MAX)}${more}`),
    loss: 'agents do not have these servers; give each its url or its command',
  });
  return { ...keys, mcpServers: Object.fromEntries(rest) };
}

/** Names that a message repeats, and characters of them. */
const NAMES_MAX = 5;
const NAMES_LENGTH_MAX = 100;

/** `harness.model` is `harness.modelId`; `harness.auth` a secret of the run. */
function withHarness(keys: Mapping, at: string, reader: HostedReader): Mapping {
  if (!isMapping(keys['harness'])) return keys;
  const { model, auth, ...rest } = withoutNulls(keys['harness'], ['type', 'model', 'reasoningLevel', 'auth']);
  if (rest['reasoningLevel'] === '') delete rest['reasoningLevel'];
  const isAlone = model !== undefined && rest['modelId'] === undefined;
  if (isAlone) reader.moved.set(`${at}/harness/modelId`, `${at}/harness/model`);
  const harness = { ...rest, ...(model === undefined ? {} : isAlone ? { modelId: model } : { model }) };
  if (auth === undefined) return { ...keys, harness };
  const source = isMapping(auth) ? auth['source'] : undefined;
  // What is no form of it stays, and is told of as what it is: a key that is not known.
  if (source !== 'managedSecret' && source !== 'workerEnvironment') return { ...keys, harness: { ...harness, auth } };
  return source === 'workerEnvironment'
    ? { ...keys, harness }
    : withKey({ ...keys, harness }, (auth as Mapping)['secretName'], at, reader);
}

/** The key of the model: of the factory's defaults a secret of runs. An automation's own list would lose the others. */
function withKey(keys: Mapping, name: JsonValue | undefined, at: string, { moved, lost }: HostedReader): Mapping {
  const { secrets = [] } = keys;
  const mayBeAdded = at !== '' || keys['secrets'] !== undefined;
  const isKey = typeof name === 'string' && MODEL_KEY_VARIABLES.includes(name);
  if (!isKey || !mayBeAdded || !Array.isArray(secrets)) {
    const loss = 'list the key under secrets, by the name of the variable that the harness takes it from';
    lost.push({ pointer: `${at}/harness/auth`, label: labelled(at, 'harness.auth'), loss });
    return keys;
  }
  if (secrets.some((secret) => nameOf(secret) === name)) return keys;
  moved.set(`${at}/secrets/${secrets.length}`, `${at}/harness/auth/secretName`);
  moved.set(`${at}/secrets/${secrets.length}/name`, `${at}/harness/auth/secretName`);
  return { ...keys, secrets: [...secrets, { name }] };
}

/** `{in: […]}` of a list of IDs is the list; null and an empty filter leave everything open. */
function triggerShape(trigger: JsonValue, at: string, { moved }: HostedReader): JsonValue {
  if (!isMapping(trigger)) return trigger;
  const { filter, ...rest } = trigger;
  const { schedule } = rest;
  const isSchedule = rest['provider'] === 'schedule';
  const when: Mapping = isMapping(schedule) ? { schedule: withoutNulls(schedule, ['name']) } : {};
  if (isSchedule && (filter === null || (isMapping(filter) && isOpen(filter)))) return { ...rest, ...when };
  if (filter === null) return { ...rest, ...when, filter: {} };
  if (filter === undefined && isSchedule) return { ...rest, ...when };
  if (!isMapping(filter)) return trigger;
  const said = withoutNulls(filter, ['webhook_ids', 'webhooks', 'payload', 'schedule_ids']);
  const lists = Object.entries(said).map(([key, value]): [string, JsonValue] => {
    const isList = /^(?:webhook_ids|schedule_ids|webhooks)$/.test(key) && isMapping(value);
    if (!isList || !Array.isArray(value['in']) || Object.keys(value).length !== 1) return [key, value];
    moved.set(`${at}/filter/${key}`, `${at}/filter/${key}/in`);
    return [key, value['in']];
  });
  const wanted: Mapping = Object.fromEntries(lists);
  const isWatch = isSchedule && schedule === undefined && Object.keys(wanted).join() === WATCHED_SCHEDULES;
  if (isWatch && isSome(wanted[WATCHED_SCHEDULES])) return { ...rest, provider: WATCHED_SCHEDULES };
  return { ...rest, ...when, filter: wanted };
}

/** What stands for the provider of a trigger that names schedules of the hosted service by their IDs. */
export const WATCHED_SCHEDULES = 'schedule_ids';

function isSome(list: JsonValue | undefined): boolean {
  return Array.isArray(list) && list.length > 0;
}

/** Whether the filter of a schedule asks for nothing. */
function isOpen(filter: Mapping): boolean {
  const { schedule_ids: ids = null, ...others } = filter;
  const list = isMapping(ids) && Object.keys(ids).join() === 'in' ? (ids['in'] ?? null) : ids;
  return Object.keys(others).length === 0 && (list === null || (Array.isArray(list) && list.length === 0));
}

function isMapping(value: JsonValue | undefined): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
