/** The client of a Millwright service. `new Millwright()` is where to begin. */
export * from './client.ts';
export { APIPromise, type WithResponse } from './answers.ts';
export type { Clock } from './clock.ts';
export {
  APIConnectionError,
  APIError,
  APIResponseValidationError,
  APIStatusError,
  APITimeoutError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  MillwrightError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
  UserAbortError,
  WaitEndedError,
  WaitTimeoutError,
  WebhookVerificationError,
  type ProblemMember,
  type WebhookVerificationReason,
} from './errors.ts';
export { EventStream } from './event-stream.ts';
export type { Logger, LogLevel } from './logging.ts';
export * from './models.ts';
export type {
  CallLimits,
  ClientOptions,
  Fetch,
  HeaderValues,
  Query,
  QueryScalar,
  QueryValue,
  RequestOptions,
  StreamOptions,
  UndocumentedOptions,
  WaitOptions,
} from './options.ts';
export { Page, PagePromise, type NamedPage, type NextPage } from './pages.ts';
export { VERSION } from './version.ts';
export * from './webhooks.ts';

export { Agent, type AgentListParams } from './resources/agent/agent.ts';
export { Artifacts } from './resources/agent/artifacts.ts';
export { Conversations, type ConversationRetrieveParams } from './resources/agent/conversations.ts';
export { Identities, type AgentIdentityListParams } from './resources/agent/identities.ts';
export { Environments, type EnvironmentListParams } from './resources/agent/environments.ts';
export { Models } from './resources/agent/models.ts';
export { RunPermissions } from './resources/agent/permissions.ts';
export {
  Runs,
  type RunConversationParams,
  type RunEventsParams,
  type RunListEventsParams,
  type RunListParams,
  type RunTimelineParams,
} from './resources/agent/runs.ts';
export { Schedules } from './resources/agent/schedules.ts';
export type { RunWaitParams } from './resources/agent/waiting.ts';
export { ApiKeys, type ApiKeyListParams } from './resources/api-keys.ts';
export { Audit, type AuditListParams } from './resources/audit.ts';
export { Explanations } from './resources/explanations.ts';
export {
  Automations,
  type AutomationListParams,
  type AutomationUpdateParams,
} from './resources/factories/automations.ts';
export { Deliveries, type DeliveryListParams } from './resources/factories/deliveries.ts';
export {
  Factories,
  type FactoryEventsParams,
  type FactoryListParams,
  type FactorySyncParams,
} from './resources/factories/factories.ts';
export {
  FactorySecrets,
  type FactorySecretDeleteParams,
  type FactorySecretListParams,
} from './resources/factories/secrets.ts';
export { PullRequests, type PullRequestListParams } from './resources/factories/pull-requests.ts';
export { Syncs, type SyncListParams } from './resources/factories/syncs.ts';
export { Webhooks, type WebhookRotateParams, type WebhookUpdateParams } from './resources/factories/webhooks.ts';
export { FactoryFiles } from './resources/factory-files.ts';
export { FederatedCredentials } from './resources/federated-credentials.ts';
export type { IfMatch } from './resources/params.ts';
export { Secrets, type SecretDeleteParams, type SecretListParams } from './resources/secrets.ts';
export { SignatureSchemes } from './resources/signature-schemes.ts';
export { Networking } from './resources/networking.ts';
export { Statistics, type StatisticsDeliveriesParams, type StatisticsRunsParams } from './resources/statistics.ts';

// For those who extend the client (a subclass of Millwright, resources of their own, words of their own for failures).
// Calling the service needs none of it, and it may change with any minor version.
export { isLoopback } from './addresses.ts';
export type { Sending } from './answers.ts';
export { connectionReason, type ConnectionReason } from './connections.ts';
export type { PagePlace } from './pages.ts';
export type { AnswerKind, Caller, CallRequest, Method } from './resource.ts';
