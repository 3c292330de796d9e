/**
 * Knows what the keys of definition files hold, as far as it decides what of them may be shown. schemas/*.schema.json.
 */
import { isHarmlessKey, isSecretLike, type ValueKind } from './excerpt-words.ts';

/**
 * What stands at a place: a value, or a mapping by its keys. The empty key is for values that stand where the mapping
 * should. Lists are as what they list.
 */
export type ExcerptPosition = ValueKind | Keys;
interface Keys {
  readonly [key: string]: ExcerptPosition;
}

const HARNESS: Keys = { '': 'word', type: 'word', modelId: 'model', reasoningLevel: 'word' };
const AGENT: Keys = {
  model: 'model',
  harness: HARNESS,
  environmentId: 'uid',
  skill: 'path',
  basePrompt: 'prose',
  mcpServers: 'unknown',
  secrets: { name: 'secret-name', host: 'path', header: 'path', methods: 'word', paths: 'path', expose: 'word' },
  idleTimeoutMinutes: 'number',
  agent: 'name',
  runner: 'name',
  workerHost: 'path',
};
const FILTER: Keys = { '': 'word', webhook_ids: 'uid', webhooks: 'name', payload: 'payload' };
const TRIGGERS: Keys = {
  '': 'word',
  provider: 'word',
  event: 'word',
  filter: FILTER,
  schedule: { '': 'cron', name: 'label', cron: 'cron' },
};

/** Keys of all files: which file one looks at does not matter. */
export const ROOT: Keys = {
  ...AGENT,
  name: 'label',
  description: 'prose',
  applyMode: 'word',
  agentDefaults: { '': 'word', ...AGENT },
  schemaVersion: 'word',
  alias: 'label',
  authMode: 'word',
  signatureScheme: 'word',
  secretName: 'secret-name',
  deliveryIdHeader: 'name',
  replayProtection: 'word',
  secretOverlapMinutes: 'number',
  enabled: 'word',
  triggers: TRIGGERS,
  concurrency: { '': 'word', group: 'path', whenBusy: 'word' },
  limits: { '': 'word', tokens: 'number', cost: 'number', minutes: 'number' },
  network: { '': 'word', allow: 'path' },
  dockerImage: 'path',
  repositories: {
    '': 'path',
    owner: 'name',
    name: 'name',
    url: 'path',
    branch: 'path',
    credentialSecret: 'secret-name',
    push: 'word',
  },
  setupCommands: 'unknown',
  trust: {
    accept: 'word',
    reason: 'prose',
    until: 'word',
    approvedBy: { name: 'label', role: 'word' },
    path: 'path',
  },
};

/** Keys that a line may begin with although its colon is missing. */
export const KEYS_OF_ROOT: ReadonlySet<string> = new Set(Object.keys(ROOT));

/** What a value is that stands at a place. */
export function excerptValueAt(place: ExcerptPosition): ValueKind {
  const kind = typeof place === 'string' ? place : place[''];
  return typeof kind === 'string' ? kind : 'unknown';
}

/** What stands below a key. Keys that nobody knows hold what nobody knows. */
export function excerptChildren(place: ExcerptPosition, key: string): ExcerptPosition {
  if (place === 'secret') return place;
  const known = typeof place === 'object' && key !== '' && Object.hasOwn(place, key) ? place[key] : undefined;
  if (known !== undefined) return known;
  if (isSecretLike(key) || !isHarmlessKey(key)) return 'secret';
  return place === 'payload' ? 'payload' : 'unknown';
}
