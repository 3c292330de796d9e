/** The JSON Schemas of request bodies as Standard Schemas: one file is validator, type and documentation. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { compileSchema } from '#contracts';
import approve from '../../../schemas/api/approve.schema.json' with { type: 'json' };
import dispatch from '../../../schemas/api/dispatch-request.schema.json' with { type: 'json' };
import factoryCreate from '../../../schemas/api/factory-create.schema.json' with { type: 'json' };
import factoryPatch from '../../../schemas/api/factory-patch.schema.json' with { type: 'json' };
import runAgent from '../../../schemas/api/run-agent-request.schema.json' with { type: 'json' };
import runFollowup from '../../../schemas/api/run-followup-request.schema.json' with { type: 'json' };
import secretPut from '../../../schemas/api/secret-put.schema.json' with { type: 'json' };
import type { AmbientAgentConfig } from '#runs';
import type { Grants } from '../store/secrets.ts';

export interface RunAgentRequest {
  prompt?: string;
  title?: string;
  config?: AmbientAgentConfig;
  skill?: string;
  metadata?: Record<string, string>;
  factory_uid?: string;
  mode?: 'normal' | 'plan' | 'orchestrate';
  interactive?: boolean;
}

export interface FactoryDispatchRequest extends Pick<RunAgentRequest, 'title' | 'config' | 'metadata'> {
  prompt: string;
  ticket_ref?: string;
  ticket_url?: string;
}

export interface RunFollowupRequest {
  message: string;
}

export interface SecretPut {
  value?: string;
  grants?: Partial<Grants>;
}

export interface FactoryCreate {
  slug: string;
  name?: string;
  source:
    | { kind: 'git'; url: string; branch?: string; path?: string; interval?: number; credential_secret?: string }
    | { kind: 'directory'; path: string };
}

export type FactoryPatch = Partial<Omit<FactoryCreate, 'slug'>>;

export interface PlanApproval {
  plan: string;
}

export const RUN_AGENT_REQUEST = bodySchema<RunAgentRequest>(runAgent);
export const DISPATCH_REQUEST = bodySchema<FactoryDispatchRequest>(dispatch);
export const RUN_FOLLOWUP_REQUEST = bodySchema<RunFollowupRequest>(runFollowup);
export const SECRET_PUT = bodySchema<SecretPut>(secretPut);
export const FACTORY_CREATE = bodySchema<FactoryCreate>(factoryCreate);
export const FACTORY_PATCH = bodySchema<FactoryPatch>(factoryPatch);
export const PLAN_APPROVAL = bodySchema<PlanApproval>(approve);

/** Adapts a JSON Schema; an issue's path is the JSON pointer of the offending member, as its only element. */
function bodySchema<T>(schema: object): StandardSchemaV1<unknown, T> {
  const check = compileSchema<T>(schema);
  return {
    '~standard': {
      version: 1,
      vendor: 'millwright',
      validate: (value) => {
        const checked = check(value);
        return checked.ok ? { value: checked.value } : { issues: checked.errors.map(({ pointer, message }) => ({ path: [pointer], message })) };
      },
    },
  };
}
