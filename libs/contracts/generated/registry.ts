/** Generated from schemas/ by test/support/generate.ts; do not edit. */
import apiAgentHarness from '../../../schemas/api/agent-harness.schema.json' with { type: 'json' };
import apiAgentList from '../../../schemas/api/agent-list.schema.json' with { type: 'json' };
import apiAgentSkillVariant from '../../../schemas/api/agent-skill-variant.schema.json' with { type: 'json' };
import apiAgentSkill from '../../../schemas/api/agent-skill.schema.json' with { type: 'json' };
import apiAmbientAgentConfig from '../../../schemas/api/ambient-agent-config.schema.json' with { type: 'json' };
import apiApiKeyCreate from '../../../schemas/api/api-key-create.schema.json' with { type: 'json' };
import apiApiKeyCreated from '../../../schemas/api/api-key-created.schema.json' with { type: 'json' };
import apiApiKeyList from '../../../schemas/api/api-key-list.schema.json' with { type: 'json' };
import apiApiKeyPatch from '../../../schemas/api/api-key-patch.schema.json' with { type: 'json' };
import apiApiKey from '../../../schemas/api/api-key.schema.json' with { type: 'json' };
import apiApproval from '../../../schemas/api/approval.schema.json' with { type: 'json' };
import apiApprove from '../../../schemas/api/approve.schema.json' with { type: 'json' };
import apiArtifactItem from '../../../schemas/api/artifact-item.schema.json' with { type: 'json' };
import apiAttachment from '../../../schemas/api/attachment.schema.json' with { type: 'json' };
import apiAuditEntry from '../../../schemas/api/audit-entry.schema.json' with { type: 'json' };
import apiAuditList from '../../../schemas/api/audit-list.schema.json' with { type: 'json' };
import apiAutomationAgent from '../../../schemas/api/automation-agent.schema.json' with { type: 'json' };
import apiAutomationCreate from '../../../schemas/api/automation-create.schema.json' with { type: 'json' };
import apiAutomationList from '../../../schemas/api/automation-list.schema.json' with { type: 'json' };
import apiAutomationPatch from '../../../schemas/api/automation-patch.schema.json' with { type: 'json' };
import apiAutomationReference from '../../../schemas/api/automation-reference.schema.json' with { type: 'json' };
import apiAutomationTriggerRequest from '../../../schemas/api/automation-trigger-request.schema.json' with { type: 'json' };
import apiAutomationTrigger from '../../../schemas/api/automation-trigger.schema.json' with { type: 'json' };
import apiAutomation from '../../../schemas/api/automation.schema.json' with { type: 'json' };
import apiChange from '../../../schemas/api/change.schema.json' with { type: 'json' };
import apiCloudEnvironmentConfig from '../../../schemas/api/cloud-environment-config.schema.json' with { type: 'json' };
import apiCloudEnvironmentList from '../../../schemas/api/cloud-environment-list.schema.json' with { type: 'json' };
import apiCloudEnvironment from '../../../schemas/api/cloud-environment.schema.json' with { type: 'json' };
import apiCondition from '../../../schemas/api/condition.schema.json' with { type: 'json' };
import apiConversationMessage from '../../../schemas/api/conversation-message.schema.json' with { type: 'json' };
import apiConversationStep from '../../../schemas/api/conversation-step.schema.json' with { type: 'json' };
import apiConversation from '../../../schemas/api/conversation.schema.json' with { type: 'json' };
import apiDeliveryList from '../../../schemas/api/delivery-list.schema.json' with { type: 'json' };
import apiDelivery from '../../../schemas/api/delivery.schema.json' with { type: 'json' };
import apiDiagnostic from '../../../schemas/api/diagnostic.schema.json' with { type: 'json' };
import apiDispatchRequest from '../../../schemas/api/dispatch-request.schema.json' with { type: 'json' };
import apiDispatchResponse from '../../../schemas/api/dispatch-response.schema.json' with { type: 'json' };
import apiError from '../../../schemas/api/error.schema.json' with { type: 'json' };
import apiExplainedAutomation from '../../../schemas/api/explained-automation.schema.json' with { type: 'json' };
import apiExplainedDefinition from '../../../schemas/api/explained-definition.schema.json' with { type: 'json' };
import apiExplainedDelivery from '../../../schemas/api/explained-delivery.schema.json' with { type: 'json' };
import apiExplainedRun from '../../../schemas/api/explained-run.schema.json' with { type: 'json' };
import apiExplainedTrigger from '../../../schemas/api/explained-trigger.schema.json' with { type: 'json' };
import apiExplanation from '../../../schemas/api/explanation.schema.json' with { type: 'json' };
import apiFactoryCreate from '../../../schemas/api/factory-create.schema.json' with { type: 'json' };
import apiFactoryEventList from '../../../schemas/api/factory-event-list.schema.json' with { type: 'json' };
import apiFactoryEvent from '../../../schemas/api/factory-event.schema.json' with { type: 'json' };
import apiFactoryFilesValidateRequest from '../../../schemas/api/factory-files-validate-request.schema.json' with { type: 'json' };
import apiFactoryFilesValidateResult from '../../../schemas/api/factory-files-validate-result.schema.json' with { type: 'json' };
import apiFactoryList from '../../../schemas/api/factory-list.schema.json' with { type: 'json' };
import apiFactoryPatch from '../../../schemas/api/factory-patch.schema.json' with { type: 'json' };
import apiFactorySource from '../../../schemas/api/factory-source.schema.json' with { type: 'json' };
import apiFactoryStatus from '../../../schemas/api/factory-status.schema.json' with { type: 'json' };
import apiFactory from '../../../schemas/api/factory.schema.json' with { type: 'json' };
import apiFilterTestRequest from '../../../schemas/api/filter-test-request.schema.json' with { type: 'json' };
import apiFilterTestResult from '../../../schemas/api/filter-test-result.schema.json' with { type: 'json' };
import apiImageAttachment from '../../../schemas/api/image-attachment.schema.json' with { type: 'json' };
import apiInventoryItem from '../../../schemas/api/inventory-item.schema.json' with { type: 'json' };
import apiListRunsResponse from '../../../schemas/api/list-runs-response.schema.json' with { type: 'json' };
import apiMcpServerConfig from '../../../schemas/api/mcp-server-config.schema.json' with { type: 'json' };
import apiModelList from '../../../schemas/api/model-list.schema.json' with { type: 'json' };
import apiModel from '../../../schemas/api/model.schema.json' with { type: 'json' };
import apiOpenapiDocument from '../../../schemas/api/openapi-document.schema.json' with { type: 'json' };
import apiPageInfo from '../../../schemas/api/page-info.schema.json' with { type: 'json' };
import apiPermissionAnswer from '../../../schemas/api/permission-answer.schema.json' with { type: 'json' };
import apiPermissionItem from '../../../schemas/api/permission-item.schema.json' with { type: 'json' };
import apiPermissionList from '../../../schemas/api/permission-list.schema.json' with { type: 'json' };
import apiPermissionOption from '../../../schemas/api/permission-option.schema.json' with { type: 'json' };
import apiPlanRequest from '../../../schemas/api/plan-request.schema.json' with { type: 'json' };
import apiPlan from '../../../schemas/api/plan.schema.json' with { type: 'json' };
import apiPrincipal from '../../../schemas/api/principal.schema.json' with { type: 'json' };
import apiPushNoticeAnswer from '../../../schemas/api/push-notice-answer.schema.json' with { type: 'json' };
import apiPushNotice from '../../../schemas/api/push-notice.schema.json' with { type: 'json' };
import apiRequestUsage from '../../../schemas/api/request-usage.schema.json' with { type: 'json' };
import apiRevisionStatus from '../../../schemas/api/revision-status.schema.json' with { type: 'json' };
import apiRotatedWebhook from '../../../schemas/api/rotated-webhook.schema.json' with { type: 'json' };
import apiRunAgentRequest from '../../../schemas/api/run-agent-request.schema.json' with { type: 'json' };
import apiRunAgentResponse from '../../../schemas/api/run-agent-response.schema.json' with { type: 'json' };
import apiRunCreatorInfo from '../../../schemas/api/run-creator-info.schema.json' with { type: 'json' };
import apiRunEventList from '../../../schemas/api/run-event-list.schema.json' with { type: 'json' };
import apiRunEvent from '../../../schemas/api/run-event.schema.json' with { type: 'json' };
import apiRunFollowupRequest from '../../../schemas/api/run-followup-request.schema.json' with { type: 'json' };
import apiRunFollowupResponse from '../../../schemas/api/run-followup-response.schema.json' with { type: 'json' };
import apiRunId from '../../../schemas/api/run-id.schema.json' with { type: 'json' };
import apiRunItem from '../../../schemas/api/run-item.schema.json' with { type: 'json' };
import apiRunMode from '../../../schemas/api/run-mode.schema.json' with { type: 'json' };
import apiRunSchedule from '../../../schemas/api/run-schedule.schema.json' with { type: 'json' };
import apiRunSkill from '../../../schemas/api/run-skill.schema.json' with { type: 'json' };
import apiRunSourceType from '../../../schemas/api/run-source-type.schema.json' with { type: 'json' };
import apiRunState from '../../../schemas/api/run-state.schema.json' with { type: 'json' };
import apiRunStatusMessage from '../../../schemas/api/run-status-message.schema.json' with { type: 'json' };
import apiRunTimeline from '../../../schemas/api/run-timeline.schema.json' with { type: 'json' };
import apiSchemaDocumentList from '../../../schemas/api/schema-document-list.schema.json' with { type: 'json' };
import apiSecretList from '../../../schemas/api/secret-list.schema.json' with { type: 'json' };
import apiSecretPut from '../../../schemas/api/secret-put.schema.json' with { type: 'json' };
import apiSecretUser from '../../../schemas/api/secret-user.schema.json' with { type: 'json' };
import apiSecret from '../../../schemas/api/secret.schema.json' with { type: 'json' };
import apiSignatureSchemeList from '../../../schemas/api/signature-scheme-list.schema.json' with { type: 'json' };
import apiSignatureScheme from '../../../schemas/api/signature-scheme.schema.json' with { type: 'json' };
import apiSyncList from '../../../schemas/api/sync-list.schema.json' with { type: 'json' };
import apiSyncPolicy from '../../../schemas/api/sync-policy.schema.json' with { type: 'json' };
import apiSync from '../../../schemas/api/sync.schema.json' with { type: 'json' };
import apiTimelineEvent from '../../../schemas/api/timeline-event.schema.json' with { type: 'json' };
import apiTreeFile from '../../../schemas/api/tree-file.schema.json' with { type: 'json' };
import apiWebhookCreate from '../../../schemas/api/webhook-create.schema.json' with { type: 'json' };
import apiWebhookCreated from '../../../schemas/api/webhook-created.schema.json' with { type: 'json' };
import apiWebhookList from '../../../schemas/api/webhook-list.schema.json' with { type: 'json' };
import apiWebhookPatch from '../../../schemas/api/webhook-patch.schema.json' with { type: 'json' };
import apiWebhookRotate from '../../../schemas/api/webhook-rotate.schema.json' with { type: 'json' };
import apiWebhookRotated from '../../../schemas/api/webhook-rotated.schema.json' with { type: 'json' };
import apiWebhook from '../../../schemas/api/webhook.schema.json' with { type: 'json' };
import operationsAgents from '../../../schemas/operations/agents.json' with { type: 'json' };
import operationsAudit from '../../../schemas/operations/audit.json' with { type: 'json' };
import operationsAutomations from '../../../schemas/operations/automations.json' with { type: 'json' };
import operationsDeliveries from '../../../schemas/operations/deliveries.json' with { type: 'json' };
import operationsDocuments from '../../../schemas/operations/documents.json' with { type: 'json' };
import operationsExplanations from '../../../schemas/operations/explanations.json' with { type: 'json' };
import operationsFactories from '../../../schemas/operations/factories.json' with { type: 'json' };
import operationsFactoryFiles from '../../../schemas/operations/factory-files.json' with { type: 'json' };
import operationsKeys from '../../../schemas/operations/keys.json' with { type: 'json' };
import operationsRunLists from '../../../schemas/operations/run-lists.json' with { type: 'json' };
import operationsRuns from '../../../schemas/operations/runs.json' with { type: 'json' };
import operationsSecrets from '../../../schemas/operations/secrets.json' with { type: 'json' };
import operationsWebhooks from '../../../schemas/operations/webhooks.json' with { type: 'json' };

/** Components of the HTTP interface by file name. */
export const API_SCHEMAS: Readonly<Record<string, object>> = {
  'agent-harness.schema.json': apiAgentHarness,
  'agent-list.schema.json': apiAgentList,
  'agent-skill-variant.schema.json': apiAgentSkillVariant,
  'agent-skill.schema.json': apiAgentSkill,
  'ambient-agent-config.schema.json': apiAmbientAgentConfig,
  'api-key-create.schema.json': apiApiKeyCreate,
  'api-key-created.schema.json': apiApiKeyCreated,
  'api-key-list.schema.json': apiApiKeyList,
  'api-key-patch.schema.json': apiApiKeyPatch,
  'api-key.schema.json': apiApiKey,
  'approval.schema.json': apiApproval,
  'approve.schema.json': apiApprove,
  'artifact-item.schema.json': apiArtifactItem,
  'attachment.schema.json': apiAttachment,
  'audit-entry.schema.json': apiAuditEntry,
  'audit-list.schema.json': apiAuditList,
  'automation-agent.schema.json': apiAutomationAgent,
  'automation-create.schema.json': apiAutomationCreate,
  'automation-list.schema.json': apiAutomationList,
  'automation-patch.schema.json': apiAutomationPatch,
  'automation-reference.schema.json': apiAutomationReference,
  'automation-trigger-request.schema.json': apiAutomationTriggerRequest,
  'automation-trigger.schema.json': apiAutomationTrigger,
  'automation.schema.json': apiAutomation,
  'change.schema.json': apiChange,
  'cloud-environment-config.schema.json': apiCloudEnvironmentConfig,
  'cloud-environment-list.schema.json': apiCloudEnvironmentList,
  'cloud-environment.schema.json': apiCloudEnvironment,
  'condition.schema.json': apiCondition,
  'conversation-message.schema.json': apiConversationMessage,
  'conversation-step.schema.json': apiConversationStep,
  'conversation.schema.json': apiConversation,
  'delivery-list.schema.json': apiDeliveryList,
  'delivery.schema.json': apiDelivery,
  'diagnostic.schema.json': apiDiagnostic,
  'dispatch-request.schema.json': apiDispatchRequest,
  'dispatch-response.schema.json': apiDispatchResponse,
  'error.schema.json': apiError,
  'explained-automation.schema.json': apiExplainedAutomation,
  'explained-definition.schema.json': apiExplainedDefinition,
  'explained-delivery.schema.json': apiExplainedDelivery,
  'explained-run.schema.json': apiExplainedRun,
  'explained-trigger.schema.json': apiExplainedTrigger,
  'explanation.schema.json': apiExplanation,
  'factory-create.schema.json': apiFactoryCreate,
  'factory-event-list.schema.json': apiFactoryEventList,
  'factory-event.schema.json': apiFactoryEvent,
  'factory-files-validate-request.schema.json': apiFactoryFilesValidateRequest,
  'factory-files-validate-result.schema.json': apiFactoryFilesValidateResult,
  'factory-list.schema.json': apiFactoryList,
  'factory-patch.schema.json': apiFactoryPatch,
  'factory-source.schema.json': apiFactorySource,
  'factory-status.schema.json': apiFactoryStatus,
  'factory.schema.json': apiFactory,
  'filter-test-request.schema.json': apiFilterTestRequest,
  'filter-test-result.schema.json': apiFilterTestResult,
  'image-attachment.schema.json': apiImageAttachment,
  'inventory-item.schema.json': apiInventoryItem,
  'list-runs-response.schema.json': apiListRunsResponse,
  'mcp-server-config.schema.json': apiMcpServerConfig,
  'model-list.schema.json': apiModelList,
  'model.schema.json': apiModel,
  'openapi-document.schema.json': apiOpenapiDocument,
  'page-info.schema.json': apiPageInfo,
  'permission-answer.schema.json': apiPermissionAnswer,
  'permission-item.schema.json': apiPermissionItem,
  'permission-list.schema.json': apiPermissionList,
  'permission-option.schema.json': apiPermissionOption,
  'plan-request.schema.json': apiPlanRequest,
  'plan.schema.json': apiPlan,
  'principal.schema.json': apiPrincipal,
  'push-notice-answer.schema.json': apiPushNoticeAnswer,
  'push-notice.schema.json': apiPushNotice,
  'request-usage.schema.json': apiRequestUsage,
  'revision-status.schema.json': apiRevisionStatus,
  'rotated-webhook.schema.json': apiRotatedWebhook,
  'run-agent-request.schema.json': apiRunAgentRequest,
  'run-agent-response.schema.json': apiRunAgentResponse,
  'run-creator-info.schema.json': apiRunCreatorInfo,
  'run-event-list.schema.json': apiRunEventList,
  'run-event.schema.json': apiRunEvent,
  'run-followup-request.schema.json': apiRunFollowupRequest,
  'run-followup-response.schema.json': apiRunFollowupResponse,
  'run-id.schema.json': apiRunId,
  'run-item.schema.json': apiRunItem,
  'run-mode.schema.json': apiRunMode,
  'run-schedule.schema.json': apiRunSchedule,
  'run-skill.schema.json': apiRunSkill,
  'run-source-type.schema.json': apiRunSourceType,
  'run-state.schema.json': apiRunState,
  'run-status-message.schema.json': apiRunStatusMessage,
  'run-timeline.schema.json': apiRunTimeline,
  'schema-document-list.schema.json': apiSchemaDocumentList,
  'secret-list.schema.json': apiSecretList,
  'secret-put.schema.json': apiSecretPut,
  'secret-user.schema.json': apiSecretUser,
  'secret.schema.json': apiSecret,
  'signature-scheme-list.schema.json': apiSignatureSchemeList,
  'signature-scheme.schema.json': apiSignatureScheme,
  'sync-list.schema.json': apiSyncList,
  'sync-policy.schema.json': apiSyncPolicy,
  'sync.schema.json': apiSync,
  'timeline-event.schema.json': apiTimelineEvent,
  'tree-file.schema.json': apiTreeFile,
  'webhook-create.schema.json': apiWebhookCreate,
  'webhook-created.schema.json': apiWebhookCreated,
  'webhook-list.schema.json': apiWebhookList,
  'webhook-patch.schema.json': apiWebhookPatch,
  'webhook-rotate.schema.json': apiWebhookRotate,
  'webhook-rotated.schema.json': apiWebhookRotated,
  'webhook.schema.json': apiWebhook,
};

export const OPERATION_GROUPS: readonly unknown[] = [
  operationsAgents,
  operationsAudit,
  operationsAutomations,
  operationsDeliveries,
  operationsDocuments,
  operationsExplanations,
  operationsFactories,
  operationsFactoryFiles,
  operationsKeys,
  operationsRunLists,
  operationsRuns,
  operationsSecrets,
  operationsWebhooks,
];
