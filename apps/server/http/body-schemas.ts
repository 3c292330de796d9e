/** The JSON Schemas of request bodies as Standard Schemas: one file is validator, type and documentation. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { API_SCHEMAS, compileSchema, labelOf, componentOf, type ApiKeyCreate, type ApiKeyPatch, type AutomationCreate, type AutomationPatch, type FactoryFilesValidateRequest, type FilterTestRequest, type PlanApproval, type PlanRequest, type SecretPut, type WebhookCreate, type WebhookPatch, type WebhookRotate } from '#contracts';
import { postedTreeProblems } from '#definitions';
import { filterTestProblems } from '#filters';
import apiKeyCreate from '../../../schemas/api/api-key-create.schema.json' with { type: 'json' };
import apiKeyPatch from '../../../schemas/api/api-key-patch.schema.json' with { type: 'json' };
import approve from '../../../schemas/api/approve.schema.json' with { type: 'json' };
import dispatch from '../../../schemas/api/dispatch-request.schema.json' with { type: 'json' };
import factoryCreate from '../../../schemas/api/factory-create.schema.json' with { type: 'json' };
import factoryPatch from '../../../schemas/api/factory-patch.schema.json' with { type: 'json' };
import factoryFilesValidate from '../../../schemas/api/factory-files-validate-request.schema.json' with { type: 'json' };
import filterTest from '../../../schemas/api/filter-test-request.schema.json' with { type: 'json' };
import planRequest from '../../../schemas/api/plan-request.schema.json' with { type: 'json' };
import runAgent from '../../../schemas/api/run-agent-request.schema.json' with { type: 'json' };
import runFollowup from '../../../schemas/api/run-followup-request.schema.json' with { type: 'json' };
import secretPut from '../../../schemas/api/secret-put.schema.json' with { type: 'json' };
import { dispatchProblems, followupProblems, runRequestProblems, type AmbientAgentConfig, type AttachmentRequest, type ImageRequest, type RequestProblem } from '#runs';

export interface RunAgentRequest {
  prompt?: string;
  title?: string;
  config?: AmbientAgentConfig;
  skill?: string;
  conversation_id?: string;
  parent_run_id?: string;
  metadata?: Record<string, string>;
  attachments?: AttachmentRequest[];
  images?: ImageRequest[];
  mode?: 'normal' | 'plan' | 'orchestrate';
  interactive?: boolean;
  factory_uid?: string;
}

export interface FactoryDispatchRequest extends Pick<RunAgentRequest, 'title' | 'config' | 'metadata' | 'attachments'> {
  prompt: string;
  ticket_ref?: string;
  ticket_url?: string;
}

export interface RunFollowupRequest {
  message: string;
  mode?: 'normal' | 'plan' | 'orchestrate';
  attachments?: AttachmentRequest[];
}

export interface FactoryCreate {
  slug: string;
  name?: string;
  source:
    | { kind: 'git'; url: string; branch?: string; path?: string; interval?: number; credential_secret?: string; push_secret?: string }
    | { kind: 'directory'; path: string }
    | { kind: 'dashboard' };
}

export type FactoryPatch = Partial<Omit<FactoryCreate, 'slug'>>;

export const RUN_AGENT_REQUEST = bodySchema<RunAgentRequest>(runAgent, runRequestProblems);
export const DISPATCH_REQUEST = bodySchema<FactoryDispatchRequest>(dispatch, dispatchProblems);
export const RUN_FOLLOWUP_REQUEST = bodySchema<RunFollowupRequest>(runFollowup, followupProblems);
export const API_KEY_CREATE = bodySchema<ApiKeyCreate>(apiKeyCreate);
export const API_KEY_PATCH = bodySchema<ApiKeyPatch>(apiKeyPatch);
export const SECRET_PUT = bodySchema<SecretPut>(secretPut);
export const FACTORY_CREATE = bodySchema<FactoryCreate>(factoryCreate);
export const FACTORY_PATCH = bodySchema<FactoryPatch>(factoryPatch);
export const PLAN_APPROVAL = bodySchema<PlanApproval>(approve);
export const PLAN_REQUEST = bodySchema<PlanRequest>(planRequest, postedTreeProblems);
export const FILTER_TEST_REQUEST = bodySchema<FilterTestRequest>(filterTest, filterTestProblems);
export const FACTORY_FILES_VALIDATE_REQUEST = bodySchema<FactoryFilesValidateRequest>(factoryFilesValidate, postedTreeProblems);
export const WEBHOOK_CREATE = bodySchema<WebhookCreate>(componentOf('webhook-create'));
export const WEBHOOK_PATCH = bodySchema<WebhookPatch>(componentOf('webhook-patch'));
export const WEBHOOK_ROTATE = emptyIfAbsent(bodySchema<WebhookRotate>(componentOf('webhook-rotate')));
export const AUTOMATION_CREATE = bodySchema<AutomationCreate>(componentOf('automation-create'));
export const AUTOMATION_PATCH = bodySchema<AutomationPatch>(componentOf('automation-patch'));

/**
 * Adapts a JSON Schema, and rules that it cannot state: both are told together. An issue's path is the JSON pointer of the offending
 * member, as its only element.
 */
function bodySchema<T>(schema: object, rules: (body: unknown) => RequestProblem[] = () => []): StandardSchemaV1<unknown, T> {
  const check = compileSchema<T>(schema, Object.values(API_SCHEMAS));
  return {
    '~standard': {
      version: 1,
      vendor: 'millwright',
      validate: (value) => {
        const checked = check(value);
        const errors = checked.ok ? [] : checked.errors;
        const named = new Set(errors.map(({ pointer }) => pointer));
        // The schema has said already what is wrong with a member that it names.
        const broken = rules(value).filter(({ pointer }) => !named.has(pointer)).map(({ pointer, message }) => ({ pointer, message: `${labelOf(pointer)} ${message}` }));
        const issues = [...errors, ...broken].map(({ pointer, message }) => ({ path: [pointer], message }));
        return checked.ok && issues.length === 0 ? { value: checked.value } : { issues };
      },
    },
  };
}

/** Takes a request without a body for one with an empty object. */
function emptyIfAbsent<T>(schema: StandardSchemaV1<unknown, T>): StandardSchemaV1<unknown, T> {
  const standard = schema['~standard'];
  return { '~standard': { ...standard, validate: (value) => standard.validate(value === undefined ? {} : value) } };
}
