/**
 * What a fuzzed service holds: one of everything, so that a request reaches further than "not found"; and what the
 * fuzzer is told of it.
 */
import { randomUUID } from 'node:crypto';
import { openApiDocument } from '#contracts';
import { insert } from '../../apps/server/store/database/transactions.ts';
import { deliver } from '../support/factories/factory-files.ts';
import { factoryFolder } from '../support/factories/factory-folder.ts';
import { bootService, type TestService } from '../support/services/service.ts';

type Json = Record<string, unknown>;

export interface FuzzedService {
  service: TestService;
  /** The document of the service, its path parameters naming what exists. */
  document: Json;
  stop(): Promise<void>;
}

const TOKEN = 'a-token-of-sixteen-or-more';

/** Boots a service that works on no run, reaches no other machine and refuses nobody for asking often, and fills it. */
export async function bootFuzzedService(): Promise<FuzzedService> {
  const service = await bootService({
    environment: {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_API_RATE: '0',
      MILLWRIGHT_API_AUTH_FAILURES: '0',
      MILLWRIGHT_LOG_LEVEL: 'error',
      // Sources that are made up reach nothing: git is not found, folders of this machine are not served.
      PATH: '/nonexistent',
      MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'false',
    },
  });
  const folder = await factoryFolder({
    webhooks: { orders: { secretName: 'hook-token' } },
    automations: { triage: { webhooks: ['orders'] } },
  });
  const values = await seed(service, folder.source);
  return {
    service,
    document: seeded(openApiDocument(service.url) as unknown as Json, values),
    async stop() {
      await service.stop();
      await folder.remove();
    },
  };
}

/** Values of path parameters: for all operations, or for one by its id and the parameter's name. */
type Values = Readonly<Record<string, readonly string[]>>;

async function seed(service: TestService, source: { kind: 'directory'; path: string }): Promise<Values> {
  await service.secret('hook-token', TOKEN);
  const made = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await service.api(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const managed = await service.factory('managed', source);
  const webhook = service.webhookUid('managed', 'orders');
  await deliver(service.ingressUrl('managed', 'orders'), TOKEN, { order: 1 });
  const board = String((await made('POST', '/factory', { slug: 'board', source: { kind: 'dashboard' } }))['uid']);
  const doomed = String((await made('POST', '/factory', { slug: 'doomed', source: { kind: 'dashboard' } }))['uid']);
  const boardWebhook = String((await made('POST', `/factory/${board}/webhooks`, { name: 'Orders' }))['uid']);
  const automation = String(
    (
      await made('POST', `/factory/${board}/automations`, {
        name: 'Triage',
        prompt: 'Look.',
        triggers: [{ provider: 'webhook', webhook_uids: [boardWebhook] }],
      })
    )['uid'],
  );
  await made('PUT', `/factory/${managed}/secrets/own-secret`, { value: 'a-value-of-sixteen-or-more' });
  const waiting = String((await made('POST', '/agent/runs', { prompt: 'Wait.' }))['run_id']);
  const [ended = '', watched = ''] = await Promise.all(
    ['End.', 'End, and stay so.'].map(async (prompt) =>
      String((await made('POST', '/agent/runs', { prompt }))['run_id']),
    ),
  );
  for (const runId of [ended, watched]) await made('POST', `/agent/runs/${runId}/cancel`);
  const artifact = randomUUID();
  const details = JSON.stringify({
    filePath: 'report.md',
    fileName: 'report.md',
    mimeType: 'text/markdown',
    sizeBytes: 5,
    digest: 'x',
  });
  await service.service.database.run(() =>
    insert(
      'artifact',
      ['artifact_uid', 'run_id', 'execution_id', 'artifact_type', 'at', 'details', 'bytes'],
      [[artifact, waiting, randomUUID(), 'FILE', Date.now(), details, Buffer.from('# Hey')]],
    ),
  );
  const key = String((await made('POST', '/api-keys', { name: 'spare', role: 'viewer' }))['id']);
  const list = async (path: string, member: string): Promise<Json[]> => (await made('GET', path))[member] as Json[];
  const [entry] = await list(`/factory/${managed}/webhooks/${webhook}/deliveries`, 'deliveries');
  const [sync] = await list(`/factory/${managed}/syncs`, 'syncs');
  const [managedAutomation] = await list(`/factory/${managed}/automations`, 'automations');
  return {
    factory_uid: [managed, board],
    'deleteFactory factory_uid': [doomed],
    'updateFactory factory_uid': [doomed],
    webhook_uid: [webhook, boardWebhook],
    automation_id: [automation, String(managedAutomation?.['uid'])],
    entry_id: [String(entry?.['entry_id'])],
    sync_id: [String(sync?.['id'])],
    run_id: [waiting, ended],
    conversation_id: [ended],
    artifact_uid: [artifact],
    // The stream of a run that has ended ends; no other operation is told of this one, lest it go on.
    'listRunEvents run_id': [watched],
    name: ['hook-token', 'own-secret'],
    api_key_id: [key],
    document: ['webhook', 'automation'],
  };
}

/** The document with known values among those that a path parameter may have. */
function seeded(document: Json, values: Values): Json {
  const copy = structuredClone(document);
  for (const operation of Object.values(copy['paths'] as Record<string, Record<string, Json>>).flatMap((methods) =>
    Object.values(methods),
  )) {
    for (const parameter of operation['parameters'] as Json[]) {
      const known =
        values[`${String(operation['operationId'])} ${String(parameter['name'])}`] ?? values[String(parameter['name'])];
      if (parameter['in'] !== 'path' || known === undefined) continue;
      // A secret of any name can be made, and no conversation has moved: an unknown one is no mistake.
      const isOpen = parameter['name'] === 'name' || operation['operationId'] === 'checkConversationRedirect';
      parameter['schema'] = isOpen
        ? { anyOf: [{ type: 'string', enum: known }, parameter['schema']] }
        : { type: 'string', enum: known };
    }
  }
  return copy;
}
