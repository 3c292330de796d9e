/** Generated from schemas/ by test/support/generate.ts; do not edit. */
import apiApprove from '../../../schemas/api/approve.schema.json' with { type: 'json' };
import apiDispatchRequest from '../../../schemas/api/dispatch-request.schema.json' with { type: 'json' };
import apiFactoryCreate from '../../../schemas/api/factory-create.schema.json' with { type: 'json' };
import apiFactoryPatch from '../../../schemas/api/factory-patch.schema.json' with { type: 'json' };
import apiRunAgentRequest from '../../../schemas/api/run-agent-request.schema.json' with { type: 'json' };
import apiRunFollowupRequest from '../../../schemas/api/run-followup-request.schema.json' with { type: 'json' };
import apiRunId from '../../../schemas/api/run-id.schema.json' with { type: 'json' };
import apiSecretPut from '../../../schemas/api/secret-put.schema.json' with { type: 'json' };
import operationsRuns from '../../../schemas/operations/runs.json' with { type: 'json' };

/** Components of the HTTP interface by file name. */
export const API_SCHEMAS: Readonly<Record<string, object>> = {
  'approve.schema.json': apiApprove,
  'dispatch-request.schema.json': apiDispatchRequest,
  'factory-create.schema.json': apiFactoryCreate,
  'factory-patch.schema.json': apiFactoryPatch,
  'run-agent-request.schema.json': apiRunAgentRequest,
  'run-followup-request.schema.json': apiRunFollowupRequest,
  'run-id.schema.json': apiRunId,
  'secret-put.schema.json': apiSecretPut,
};

export const OPERATION_GROUPS: readonly unknown[] = [
  operationsRuns,
];
