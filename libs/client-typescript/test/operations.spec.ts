/**
 * Every operation of the API document has a method; every method sends what the document says, and takes the answer
 * that it promises and no other.
 */
import { readFileSync } from 'node:fs';
import { Millwright } from '../src/client.ts';
import { APIResponseValidationError } from '../src/errors.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
}
interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}
interface Asked {
  client: Millwright;
  /** A value for each path parameter. */
  id: Record<string, string>;
  // The values are made of the document's schemas, whatever the types of the methods are.
  query: never;
  body: never;
}
type Call = (asked: Asked) => PromiseLike<unknown>;

const IF_MATCH = '"7"';

const CALLS: Record<string, Call> = {
  listAgents: ({ client, query }) => client.agent.list(query),
  runAgent: ({ client, body }) => client.agent.run(body),
  listRuns: ({ client, query }) => client.agent.runs.list(query),
  createRun: ({ client, body }) => client.agent.runs.create(body),
  getRun: ({ client, id }) => client.agent.runs.retrieve(id.run_id!),
  createRunFollowup: ({ client, id, body }) => client.agent.runs.submitFollowup(id.run_id!, body),
  interruptRun: ({ client, id }) => client.agent.runs.interrupt(id.run_id!),
  interruptConversation: ({ client, id }) => client.agent.conversations.interrupt(id.conversation_id!),
  cancelRun: ({ client, id }) => client.agent.runs.cancel(id.run_id!),
  listRunEvents: ({ client, id, query }) => client.agent.runs.listEvents(id.run_id!, query),
  getRunTimeline: ({ client, id, query }) => client.agent.runs.timeline(id.run_id!, query),
  getRunConversation: ({ client, id, query }) => client.agent.runs.conversation(id.run_id!, query),
  listRunPermissions: ({ client, id }) => client.agent.runs.permissions.list(id.run_id!),
  answerRunPermission: ({ client, id, body }) =>
    client.agent.runs.permissions.answer(id.run_id!, id.permission_id!, body),
  getConversation: ({ client, id, query }) => client.agent.conversations.retrieve(id.conversation_id!, query),
  getArtifact: ({ client, id }) => client.agent.artifacts.retrieve(id.artifact_uid!),
  downloadArtifact: ({ client, id }) => client.agent.artifacts.download(id.artifact_uid!),
  listModels: ({ client }) => client.agent.models.list(),
  listAgentIdentities: ({ client, query }) => client.agent.identities.list(query),
  createAgentIdentity: ({ client, body }) => client.agent.identities.create(body),
  getAgentIdentity: ({ client, id }) => client.agent.identities.retrieve(id.uid!),
  updateAgentIdentity: ({ client, id, body }) => client.agent.identities.update(id.uid!, body),
  deleteAgentIdentity: ({ client, id }) => client.agent.identities.delete(id.uid!),
  getEgressRanges: ({ client }) => client.networking.egressRanges(),
  listEnvironments: ({ client, query }) => client.agent.environments.list(query),
  listSchedules: ({ client }) => client.agent.schedules.list(),
  createSchedule: ({ client, body }) => client.agent.schedules.create(body),
  getSchedule: ({ client, id }) => client.agent.schedules.retrieve(id.schedule_id!),
  updateSchedule: ({ client, id, body }) => client.agent.schedules.update(id.schedule_id!, body),
  deleteSchedule: ({ client, id }) => client.agent.schedules.delete(id.schedule_id!),
  pauseSchedule: ({ client, id }) => client.agent.schedules.pause(id.schedule_id!),
  resumeSchedule: ({ client, id }) => client.agent.schedules.resume(id.schedule_id!),
  listFactories: ({ client, query }) => client.factories.list(query),
  createFactory: ({ client, body }) => client.factories.create(body),
  getFactory: ({ client, id }) => client.factories.retrieve(id.factory_uid!),
  updateFactory: ({ client, id, body }) => client.factories.update(id.factory_uid!, body),
  deleteFactory: ({ client, id }) => client.factories.delete(id.factory_uid!),
  dispatchRun: ({ client, id, body }) => client.factories.dispatch(id.factory_uid!, body),
  getFactoryStatus: ({ client, id }) => client.factories.status(id.factory_uid!),
  syncFactory: ({ client, id, query }) => client.factories.sync(id.factory_uid!, query),
  planFactory: ({ client, id, body }) => client.factories.plan(id.factory_uid!, body),
  approvePlan: ({ client, id, body }) => client.factories.approve(id.factory_uid!, body),
  suspendFactory: ({ client, id }) => client.factories.suspend(id.factory_uid!),
  resumeFactory: ({ client, id }) => client.factories.resume(id.factory_uid!),
  listFactoryEvents: ({ client, id, query }) => client.factories.events(id.factory_uid!, query),
  listPullRequests: ({ client, id, query }) => client.factories.pullRequests.list(id.factory_uid!, query),
  getRevision: ({ client, id }) => client.factories.revision(id.factory_uid!, id.revision!),
  testFilter: ({ client, id, body }) => client.factories.testFilter(id.factory_uid!, body),
  replayFilter: ({ client, id, body }) => client.factories.replayFilter(id.factory_uid!, body),
  suggestFilter: ({ client, id, body }) => client.factories.suggestFilter(id.factory_uid!, body),
  listSyncs: ({ client, id, query }) => client.factories.syncs.list(id.factory_uid!, query),
  getSync: ({ client, id }) => client.factories.syncs.retrieve(id.factory_uid!, id.sync_id!),
  listWebhooks: ({ client, id }) => client.factories.webhooks.list(id.factory_uid!),
  createWebhook: ({ client, id, body }) => client.factories.webhooks.create(id.factory_uid!, body),
  getWebhook: ({ client, id }) => client.factories.webhooks.retrieve(id.factory_uid!, id.webhook_uid!),
  updateWebhook: ({ client, id, body }) =>
    client.factories.webhooks.update(id.factory_uid!, id.webhook_uid!, { ...(body as object), ifMatch: IF_MATCH }),
  deleteWebhook: ({ client, id }) =>
    client.factories.webhooks.delete(id.factory_uid!, id.webhook_uid!, { ifMatch: IF_MATCH }),
  rotateWebhookSecret: ({ client, id, body }) =>
    client.factories.webhooks.rotate(id.factory_uid!, id.webhook_uid!, { ...(body as object), ifMatch: IF_MATCH }),
  listDeliveries: ({ client, id, query }) => client.factories.deliveries.list(id.factory_uid!, id.webhook_uid!, query),
  getDelivery: ({ client, id }) => client.factories.deliveries.retrieve(id.factory_uid!, id.webhook_uid!, id.entry_id!),
  getDeliveryPayload: ({ client, id }) =>
    client.factories.deliveries.payload(id.factory_uid!, id.webhook_uid!, id.entry_id!),
  resendDelivery: ({ client, id }) =>
    client.factories.deliveries.resend(id.factory_uid!, id.webhook_uid!, id.entry_id!),
  listAutomations: ({ client, id, query }) => client.factories.automations.list(id.factory_uid!, query),
  createAutomation: ({ client, id, body }) => client.factories.automations.create(id.factory_uid!, body),
  getAutomation: ({ client, id }) => client.factories.automations.retrieve(id.factory_uid!, id.automation_id!),
  updateAutomation: ({ client, id, body }) =>
    client.factories.automations.update(id.factory_uid!, id.automation_id!, { ...(body as object), ifMatch: IF_MATCH }),
  deleteAutomation: ({ client, id }) =>
    client.factories.automations.delete(id.factory_uid!, id.automation_id!, { ifMatch: IF_MATCH }),
  listFactorySecrets: ({ client, id, query }) => client.factories.secrets.list(id.factory_uid!, query),
  getFactorySecret: ({ client, id }) => client.factories.secrets.retrieve(id.factory_uid!, id.name!),
  putFactorySecret: ({ client, id, body }) => client.factories.secrets.put(id.factory_uid!, id.name!, body),
  deleteFactorySecret: ({ client, id, query }) => client.factories.secrets.delete(id.factory_uid!, id.name!, query),
  listTeamSecrets: ({ client, query }) => client.secrets.list(query),
  getTeamSecret: ({ client, id }) => client.secrets.retrieve(id.name!),
  putTeamSecret: ({ client, id, body }) => client.secrets.put(id.name!, body),
  deleteTeamSecret: ({ client, id, query }) => client.secrets.delete(id.name!, query),
  listApiKeys: ({ client, query }) => client.apiKeys.list(query),
  createApiKey: ({ client, body }) => client.apiKeys.create(body),
  getCurrentApiKey: ({ client }) => client.apiKeys.current(),
  getApiKey: ({ client, id }) => client.apiKeys.retrieve(id.api_key_id!),
  updateApiKey: ({ client, id, body }) => client.apiKeys.update(id.api_key_id!, body),
  rotateApiKey: ({ client, id, body }) => client.apiKeys.rotate(id.api_key_id!, body),
  revokeApiKey: ({ client, id }) => client.apiKeys.revoke(id.api_key_id!),
  listFederatedCredentials: ({ client }) => client.federatedCredentials.list(),
  createFederatedCredential: ({ client, body }) => client.federatedCredentials.create(body),
  getFederatedCredential: ({ client, id }) => client.federatedCredentials.retrieve(id.federated_credential_id!),
  updateFederatedCredential: ({ client, id, body }) =>
    client.federatedCredentials.update(id.federated_credential_id!, body),
  deleteFederatedCredential: ({ client, id }) => client.federatedCredentials.delete(id.federated_credential_id!),
  listAuditEntries: ({ client, query }) => client.audit.list(query),
  validateFactoryFiles: ({ client, body }) => client.factoryFiles.validate(body),
  listSchemas: ({ client }) => client.factoryFiles.schemas(),
  getSchema: ({ client, id }) => client.factoryFiles.schema(id.document!),
  getOpenApiDocument: ({ client }) => client.openapi(),
  explain: ({ client, id }) => client.explanations.retrieve(id.id!),
  listSignatureSchemes: ({ client }) => client.signatureSchemes.list(),
  getDeliveryStatistics: ({ client, query }) => client.statistics.deliveries(query),
  getRunStatistics: ({ client, query }) => client.statistics.runs(query),
};

const NOT_SERVED: Record<string, string> = {
  exchangeToken: 'a client has a key; the command exchanges tokens, once and without a retry',
  createSession: 'a session is a cookie of a browser; programs have keys',
  getSession: 'a session is a cookie of a browser; programs have keys',
  deleteSession: 'a session is a cookie of a browser; programs have keys',
  getVersionedSchema: 'clients of the hosted service ask so; ours asks getSchema',
  checkConversationRedirect: 'clients of the hosted service ask so; nothing moves here',
  checkSessionRedirect: 'clients of the hosted service ask so; nothing moves here',
  getRunByExternalReference: 'clients of the hosted service ask so; ours lists runs by metadata',
  getRunTranscript: 'clients of the hosted service ask so; ours reads the conversation',
  downloadScreenshot: 'clients of the hosted service ask so; ours downloads the artifact',
  getConversationTranscript: 'clients of the hosted service ask so; ours reads the conversation',
  createConversationFollowup: 'clients of the hosted service ask so; ours sends follow-ups to runs',
  getRunHarnessUsage: 'clients of the hosted service ask so; ours reads request_usage',
  listHandoffAttachments: 'clients of the hosted service ask so; ours reads the artifacts of the run',
  listTasks: 'clients of the hosted service ask so; ours lists runs',
  getTask: 'clients of the hosted service ask so; ours reads runs',
  pushFactory: 'git hosts call it, with a signature of their own',
};

const document = JSON.parse(
  readFileSync(new URL('../../../schemas/generated/openapi.json', import.meta.url), 'utf8'),
) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation,
    name: operation.operationId,
  })),
);
const served = operations.filter(({ name }) => CALLS[name] !== undefined);

describe('operations of the API document', () => {
  it('have a method each, or a reason why not', () => {
    expect([...Object.keys(CALLS), ...Object.keys(NOT_SERVED)].sort()).toEqual(
      operations.map(({ name }) => name).sort(),
    );
  });

  it('have no header that the methods do not know, and none that is required can be left out', () => {
    const headers = served.flatMap(({ operation, name }) =>
      parametersIn(operation, 'header').map((header) => ({
        operation: name,
        header: header.name,
        required: header.required,
      })),
    );
    const required = headers
      .filter((header) => header.required === true)
      .map(({ operation, header }) => `${operation}: ${header}`);
    const client = answering(() => new Response(null, { status: 204 })).client;
    // @ts-expect-error -- The state that is changed has to be named.
    const update = (): unknown => client.factories.automations.update('f', 'a', {});
    expect([update].length).toBe(required.length);
    expect(required).toEqual(['updateAutomation: If-Match']);
    expect(new Set(headers.map(({ header }) => header))).toEqual(
      new Set(['Idempotency-Key', 'If-Match', 'Last-Event-ID', 'If-None-Match']),
    );
  });

  it.each(served)('$name is sent as the document says: $method $path', async ({ path, method, operation, name }) => {
    const { sent, client } = answering(() => answerOf(operation));
    await CALLS[name]!(asked(client, path, operation));
    expect(sent).toHaveLength(1);
    const { url, init } = sent[0]!;
    const headers = new Headers(init.headers);
    expect({ method: init.method, path: url.pathname }).toEqual({
      method,
      path: `/api/v1${path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(idFor(parameter)))}`,
    });
    expect([...url.searchParams]).toEqual(queryPairs(operation));
    expect(init.body === undefined || init.body === null ? undefined : JSON.parse(init.body as string)).toEqual(
      bodyFor(operation),
    );
    expect(headers.get('content-type')).toBe(bodyFor(operation) === undefined ? null : 'application/json');
    expect(headers.get('if-match')).toBe(hasHeader(operation, 'If-Match') ? IF_MATCH : null);
    expect(headers.get('idempotency-key') !== null).toBe(hasHeader(operation, 'Idempotency-Key'));
  });

  it.each(served.filter(({ operation }) => isObject(answerSchema(operation))))(
    '$name takes the answer that the document promises, and names each member that is missing',
    async ({ path, operation, name }) => {
      const example = exampleOf(answerSchema(operation)!) as Record<string, unknown>;
      const { client } = answering(() =>
        Response.json({ ...example, unknown_member: [1] }, { status: Number(status(operation)) }),
      );
      const answer = await CALLS[name]!(asked(client, path, operation));
      expect(bodyIn(answer)).toEqual({ ...example, unknown_member: [1] });

      for (const member of Object.keys(example)) {
        const { [member]: _, ...rest } = example;
        const { client: refusing } = answering(() => Response.json(rest, { status: Number(status(operation)) }));
        const error = await Promise.resolve(CALLS[name]!(asked(refusing, path, operation))).catch(
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(APIResponseValidationError);
        expect((error as APIResponseValidationError).pointer).toBe(`/${member}`);
      }
    },
  );
});

/** A client whose service always answers the same. */
function answering(answer: () => Response) {
  const sent: { url: URL; init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sent.push({ url: new URL(url), init });
    return answer();
  };
  return {
    sent,
    client: new Millwright({ baseURL: 'http://127.0.0.1:1', apiKey: 'mw_a-key-of-a-test', fetch, maxRetries: 0 }),
  };
}

function asked(client: Millwright, path: string, operation: Operation): Asked {
  const id = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, idFor(name!)]));
  return {
    client,
    id,
    query: Object.fromEntries(
      parametersIn(operation, 'query').map(({ name, schema }) => [name, queryValue(schema)]),
    ) as never,
    body: bodyFor(operation) as never,
  };
}

/** Needs encoding, so that it shows whether it is encoded. */
function idFor(parameter: string): string {
  return `${parameter}/é ?`;
}

function parametersIn({ parameters = [] }: Operation, place: string) {
  return parameters.filter((parameter) => parameter.in === place);
}

function hasHeader(operation: Operation, name: string): boolean {
  return parametersIn(operation, 'header').some((parameter) => parameter.name === name);
}

function queryValue(schema: Schema): unknown {
  if (schema.type === 'array') return ['one&1', 'two'];
  if (schema.type === 'object') return { 'a key': 'ü' };
  if (schema.type === 'integer') return 3;
  return schema.type === 'boolean' ? true : 'text +1';
}

function queryPairs(operation: Operation): [string, string][] {
  return parametersIn(operation, 'query').flatMap(({ name, schema }): [string, string][] => {
    const value = queryValue(schema);
    if (Array.isArray(value)) return value.map((item) => [name, item as string]);
    return typeof value === 'object'
      ? Object.entries(value as Record<string, string>).map(([key, item]) => [`${name}[${key}]`, item])
      : [[name, `${value as string | number | boolean}`]];
  });
}

function bodyFor(operation: Operation): unknown {
  const schema = operation.requestBody?.content['application/json']?.schema;
  return schema === undefined ? undefined : exampleOf(schema, true);
}

function status(operation: Operation): string {
  return Object.keys(operation.responses).find((code) => code.startsWith('2'))!;
}

function answerSchema(operation: Operation): Schema | undefined {
  return operation.responses[status(operation)]!.content?.['application/json']?.schema;
}

function isObject(schema: Schema | undefined): boolean {
  return schema !== undefined && typeof exampleOf(schema) === 'object';
}

function answerOf(operation: Operation): Response {
  const schema = answerSchema(operation);
  if (status(operation) === '204') return new Response(null, { status: 204 });
  return schema === undefined
    ? new Response('{}', { headers: { 'content-type': 'application/octet-stream' } })
    : Response.json(exampleOf(schema), { status: Number(status(operation)) });
}

/** The smallest value of a schema; with every member if asked for. */
function exampleOf(schema: Schema, whole = false): unknown {
  if (schema.$ref !== undefined) return exampleOf(document.components.schemas[schema.$ref.split('/').pop()!]!, whole);
  if (schema.allOf !== undefined && schema.properties === undefined)
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, whole)));
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0]!, whole);
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const type = [schema.type ?? 'string'].flat()[0];
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {})
        .filter(([name]) => whole || schema.required?.includes(name))
        .map(([name, member]) => [name, exampleOf(member, whole)]),
    );
  if (type === 'array') return whole ? [exampleOf(schema.items ?? {}, whole)] : [];
  if (type === 'string') return schema.format === 'date-time' ? '2026-01-31T23:59:59.123Z' : 'text';
  if (type === 'null') return null;
  return type === 'boolean' ? false : 0;
}

/** The answer as it was received; pages have it as `body`. */
function bodyIn(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'page_info' in answer && 'items' in answer
    ? (answer as { body?: unknown }).body
    : answer;
}
