/** Texts of factory files, a delivery sender and the queries that flows share. */
import { eventually, type TestService } from '../services/service.ts';

/** A webhook file; `more` are further lines. */
export const webhookFile = (secretName: string, ...more: string[]): string =>
  [`secretName: ${secretName}`, ...more, ''].join('\n');

/**
 * An automation that fires for every delivery of webhooks that it names, unless `payload` (one YAML flow mapping) says
 * otherwise.
 */
export function automationFile(
  webhooks: readonly string[],
  prompt = 'Do what the event asks for.',
  options: { payload?: string; lines?: readonly string[]; uids?: boolean } = {},
): string {
  return [
    '---',
    ...(options.lines ?? []),
    'triggers:',
    '  - provider: webhook',
    '    event: received',
    '    filter:',
    `      ${options.uids ? 'webhook_ids' : 'webhooks'}: [${webhooks.join(', ')}]`,
    ...(options.payload === undefined ? [] : [`      payload: ${options.payload}`]),
    '---',
    prompt,
    '',
  ].join('\n');
}

/** Repository paths of the two kinds of file. */
export const webhookPath = (name: string): string => `webhooks/${name}.yaml`;
export const automationPath = (name: string): string => `automations/${name}/automation.md`;

/** Posts a JSON delivery with a bearer token; answers status and parsed body. */
export async function deliver(
  url: string,
  token: string,
  body: unknown = { at: Math.random() },
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** Status of a factory as the API shows it. */
export interface FactoryStatus {
  condition: { ending: string; reason: string | null; message: string | null };
  revision_applied: string | null;
  revision_seen: string | null;
  generation_requested: number;
  generation_handled: number;
  last_sync: SyncItem | null;
  held_sync: SyncItem | null;
  conditions: {
    type: string;
    status: string;
    reason: string;
    message: string;
    since: string | null;
    observed_generation: number;
  }[];
  recent_syncs: {
    id: string;
    ending: string;
    revision: string | null;
    changes: number;
    problems: number;
    superseded: number;
  }[];
  events: EventItem[];
  inventory: {
    kind: string;
    uid: string;
    slug: string;
    file: string | null;
    blob: string | null;
    revision: string;
    state: string;
  }[];
}

/** One event as the API shows it. */
export interface EventItem {
  id: string;
  type: string;
  reason: string;
  message: string;
  revision: string | null;
  sync: string | null;
}

/** One recorded pass as the API shows it. */
export interface SyncItem {
  id: string;
  ending: string;
  reason: string | null;
  message: string | null;
  revision: string | null;
  triggers: string[];
  problems: { path: string; line: number; column: number; rule: string; message: string; severity: string }[];
  changes: { action: string; kind: string; slug: string; path: string; renamed_from?: string; changes?: string[] }[];
  held: { action: string; kind: string; slug: string }[];
  plan: string | null;
  rewritten_from: string | null;
  superseded: number;
}

export async function statusOf(service: TestService, factoryUid: string): Promise<FactoryStatus> {
  return (await service.api('GET', `/factory/${factoryUid}/status`)).body as unknown as FactoryStatus;
}

export async function syncAndGetStatus(service: TestService, factoryUid: string): Promise<FactoryStatus> {
  return (await service.sync(factoryUid)) as unknown as FactoryStatus;
}

/** Recorded passes, newest first. */
export async function syncsOf(service: TestService, factoryUid: string): Promise<SyncItem[]> {
  return (await service.api('GET', `/factory/${factoryUid}/syncs?limit=100`)).body['syncs'] as SyncItem[];
}

/** A condition of a factory as `status(reason)`. */
export function conditionOf({ conditions }: FactoryStatus, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status}(${found?.reason})`;
}

/** Waits until a run is in one of the given states; answers the RunItem. */
export function runIn(service: TestService, runId: string, ...states: string[]): Promise<Record<string, unknown>> {
  return eventually(`run ${runId} is ${states.join(' or ')}`, async () => {
    const run = (await service.api('GET', `/agent/runs/${runId}`)).body;
    return states.includes(String(run['state'])) ? run : undefined;
  });
}
