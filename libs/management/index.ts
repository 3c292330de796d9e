/**
 * The door of `#management`: what requests to edit webhooks and automations come to, in dashboard factories and in
 * managed ones.
 */
export * from './factory-edits.ts';
export { createdWebhook, changedWebhook, deletedWebhook, rotatedWebhook } from './webhook-edits.ts';
export { createdAutomation, changedAutomation, deletedAutomation } from './automation-edits.ts';
export {
  refuseWebhookChange,
  refuseWebhookCreate,
  refuseWebhookDelete,
  refuseWebhookRotate,
} from './managed-webhook-files.ts';
export { refuseAutomationChange, refuseAutomationCreate, refuseAutomationDelete } from './managed-automation-files.ts';
export { changedWebhookErrors, newWebhookErrors } from './webhook-requests.ts';
export { automationRequestErrors } from './automation-requests.ts';
export * from './backup-manifest.ts';
export {
  breakingReason,
  obstacleMigration,
  knownToProgram,
  oldestReaderOf,
  type SchemaStep,
} from './schema-compatibility.ts';
export { masterKeyNameOf } from './master-key-names.ts';
export * from './support-bundle.ts';
