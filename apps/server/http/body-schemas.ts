/** The JSON Schemas of request bodies as Standard Schemas: one file is validator, type and documentation. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  API_SCHEMAS,
  compileBounded,
  isSmall,
  labelOf,
  componentOf,
  type ApiKeyCreate,
  type ApiKeyPatch,
  type AutomationCreate,
  type AutomationPatch,
  type FactoryFilesValidateRequest,
  type FilterReplayRequest,
  type FilterSuggestRequest,
  type FilterTestRequest,
  type PermissionAnswer,
  type PlanApproval,
  type PlanRequest,
  type SecretPut,
  type SessionCreate,
  type SyncPolicy,
  type WebhookCreate,
  type WebhookPatch,
  type WebhookRotate,
  type SchemaError,
  type Wording,
} from '#contracts';
import { didYouMean, postedTreeProblems } from '#definitions';
import { filterReplayProblems, filterSuggestionProblems, filterTestProblems } from '#filters';
import { automationRequestErrors, changedWebhookErrors, newWebhookErrors } from '#management';
import { factoryRequestErrors } from '../factories/factories.requests.ts';
import { keyRequestErrors } from '../keys/keys.requests.ts';
import type { MemberError } from './error-codes.ts';
import { type AmbientAgentConfig } from '#agents';
import {
  dispatchProblems,
  followupProblems,
  runRequestProblems,
  type AttachmentRequest,
  type ImageRequest,
  type RequestProblem,
} from '#runs';

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
    | {
        kind: 'git';
        url: string;
        branch?: string;
        path?: string;
        interval?: number;
        credential_secret?: string;
        push_secret?: string;
      }
    | { kind: 'directory'; path: string }
    | { kind: 'dashboard' };
  sync_policy?: SyncPolicy;
}

export type FactoryPatch = Partial<Omit<FactoryCreate, 'slug'>>;

/** Errors speak of the body of a request, which is JSON. */
const BODY_WORDING: Wording = { labelOf: (pointer) => labelOf(pointer, 'the body'), mapping: 'a JSON object' };

export const RUN_AGENT_REQUEST = bodySchema<RunAgentRequest>('run-agent-request', runRequestProblems);
export const DISPATCH_REQUEST = bodySchema<FactoryDispatchRequest>('dispatch-request', dispatchProblems);
export const RUN_FOLLOWUP_REQUEST = bodySchema<RunFollowupRequest>('run-followup-request', followupProblems);
export const PERMISSION_ANSWER = bodySchema<PermissionAnswer>('permission-answer');
export const API_KEY_CREATE = bodySchema<ApiKeyCreate>('api-key-create', noRules, keyRequestErrors);
export const API_KEY_PATCH = bodySchema<ApiKeyPatch>('api-key-patch');
export const SESSION_CREATE = bodySchema<SessionCreate>('session-create');
export const SECRET_PUT = bodySchema<SecretPut>('secret-put');
export const FACTORY_CREATE = bodySchema<FactoryCreate>('factory-create', noRules, factoryRequestErrors);
export const FACTORY_PATCH = bodySchema<FactoryPatch>('factory-patch', noRules, factoryRequestErrors);
export const PLAN_APPROVAL = bodySchema<PlanApproval>('approve');
export const PLAN_REQUEST = bodySchema<PlanRequest>('plan-request', postedTreeProblems);
export const FILTER_TEST_REQUEST = bodySchema<FilterTestRequest>('filter-test-request', filterTestProblems);
export const FILTER_REPLAY_REQUEST = bodySchema<FilterReplayRequest>('filter-replay-request', filterReplayProblems);
export const FILTER_SUGGEST_REQUEST = bodySchema<FilterSuggestRequest>(
  'filter-suggest-request',
  filterSuggestionProblems,
);
export const FACTORY_FILES_VALIDATE_REQUEST = bodySchema<FactoryFilesValidateRequest>(
  'factory-files-validate-request',
  postedTreeProblems,
);
export const WEBHOOK_CREATE = bodySchema<WebhookCreate>('webhook-create', noRules, newWebhookErrors);
export const WEBHOOK_PATCH = bodySchema<WebhookPatch>('webhook-patch', noRules, changedWebhookErrors);
export const WEBHOOK_ROTATE = emptyIfAbsent(bodySchema<WebhookRotate>('webhook-rotate'));
export const AUTOMATION_CREATE = bodySchema<AutomationCreate>('automation-create', noRules, automationRequestErrors);
export const AUTOMATION_PATCH = bodySchema<AutomationPatch>('automation-patch', noRules, automationRequestErrors);

/**
 * Adapts the JSON Schema of a component, and rules that it cannot state: both are told together. An issue's path is the JSON pointer of the offending
 * member, as its only element. `refusedLater`: what a service refuses for itself, together with what only it knows; it is told here
 * beside the schema's errors, whose request no service sees.
 */
function bodySchema<T>(
  component: string,
  rules: (body: unknown) => RequestProblem[] = noRules,
  refusedLater: (body: unknown) => MemberError[] = noRules,
): StandardSchemaV1<unknown, T> {
  const check = compileBounded<T>(componentOf(component), Object.values(API_SCHEMAS), BODY_WORDING);
  return {
    '~standard': {
      version: 1,
      vendor: 'millwright',
      validate: (value) => {
        const checked = check(value);
        const errors = checked.ok ? [] : checked.errors.map(withHint);
        const named = new Set(errors.map(({ pointer }) => pointer));
        const broken = (checked.ok || isSmall(value) ? rules(value) : []).map(({ pointer, message }) => ({
          pointer,
          message: `${BODY_WORDING.labelOf(pointer)} ${message}`,
        }));
        const later = !checked.ok && isSmall(value) ? refusedLater(value) : [];
        // The schema has said already what is wrong with a member that it names.
        const issues = [...errors, ...[...broken, ...later].filter(({ pointer }) => !named.has(pointer))].map(
          ({ pointer, message }) => ({ path: [pointer], message }),
        );
        return checked.ok && issues.length === 0 ? { value: checked.value } : { issues: firstOf(issues) };
      },
    },
  };
}

/** A member that the schema does not know may be a mistyped one. */
function withHint({ pointer, kind, message, found, candidates = [] }: SchemaError): MemberError {
  return {
    pointer,
    message: kind === 'unknown-key' && found !== undefined ? `${message}${didYouMean(found, candidates)}` : message,
  };
}

function noRules(): [] {
  return [];
}

/** Faults that one answer names: more than a person mends in one go. */
const ISSUES_MAX = 100;

/** The first of them, and how many more there are. */
function firstOf(
  issues: readonly { path: string[]; message: string }[],
): readonly { path: string[]; message: string }[] {
  if (issues.length <= ISSUES_MAX) return issues;
  return [...issues.slice(0, ISSUES_MAX), { path: [''], message: `… and ${issues.length - ISSUES_MAX} more` }];
}

/** Takes a request without a body for one with an empty object. */
function emptyIfAbsent<T>(schema: StandardSchemaV1<unknown, T>): StandardSchemaV1<unknown, T> {
  const standard = schema['~standard'];
  return { '~standard': { ...standard, validate: (value) => standard.validate(value === undefined ? {} : value) } };
}
