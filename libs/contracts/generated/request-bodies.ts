/** Generated from schemas/ by test/support/generate.ts; do not edit. */
import type { ApiKeyCreate } from './api/api-key-create.ts';
import type { ApiKeyPatch } from './api/api-key-patch.ts';
import type { ApiKeyRotate } from './api/api-key-rotate.ts';
import type { PlanApproval } from './api/approve.ts';
import type { AutomationCreate } from './api/automation-create.ts';
import type { AutomationPatch } from './api/automation-patch.ts';
import type { FactoryDispatchRequest } from './api/dispatch-request.ts';
import type { FactoryCreate } from './api/factory-create.ts';
import type { FactoryFilesValidateRequest } from './api/factory-files-validate-request.ts';
import type { FactoryPatch } from './api/factory-patch.ts';
import type { FederatedCredentialCreate } from './api/federated-credential-create.ts';
import type { FederatedCredentialPatch } from './api/federated-credential-patch.ts';
import type { FilterReplayRequest } from './api/filter-replay-request.ts';
import type { FilterSuggestRequest } from './api/filter-suggest-request.ts';
import type { FilterTestRequest } from './api/filter-test-request.ts';
import type { PermissionAnswer } from './api/permission-answer.ts';
import type { PlanRequest } from './api/plan-request.ts';
import type { PushNotice } from './api/push-notice.ts';
import type { RunAgentRequest } from './api/run-agent-request.ts';
import type { RunFollowupRequest } from './api/run-followup-request.ts';
import type { SecretPut } from './api/secret-put.ts';
import type { SessionCreate } from './api/session-create.ts';
import type { TokenExchange } from './api/token-exchange.ts';
import type { WebhookCreate } from './api/webhook-create.ts';
import type { WebhookPatch } from './api/webhook-patch.ts';
import type { WebhookRotate } from './api/webhook-rotate.ts';

/** Body of a request by its component, `schemas/api/<component>.schema.json`. */
export interface RequestBodies {
  'api-key-create': ApiKeyCreate;
  'api-key-patch': ApiKeyPatch;
  'api-key-rotate': ApiKeyRotate;
  'approve': PlanApproval;
  'automation-create': AutomationCreate;
  'automation-patch': AutomationPatch;
  'dispatch-request': FactoryDispatchRequest;
  'factory-create': FactoryCreate;
  'factory-files-validate-request': FactoryFilesValidateRequest;
  'factory-patch': FactoryPatch;
  'federated-credential-create': FederatedCredentialCreate;
  'federated-credential-patch': FederatedCredentialPatch;
  'filter-replay-request': FilterReplayRequest;
  'filter-suggest-request': FilterSuggestRequest;
  'filter-test-request': FilterTestRequest;
  'permission-answer': PermissionAnswer;
  'plan-request': PlanRequest;
  'push-notice': PushNotice;
  'run-agent-request': RunAgentRequest;
  'run-followup-request': RunFollowupRequest;
  'secret-put': SecretPut;
  'session-create': SessionCreate;
  'token-exchange': TokenExchange;
  'webhook-create': WebhookCreate;
  'webhook-patch': WebhookPatch;
  'webhook-rotate': WebhookRotate;
}
