/** The door of the definitions: file texts → definitions and positioned problems; cross-file rules. */
export * from './types.ts';
export { readDefinitions, readingSteps, DEFINITION_FILES_MAX } from './read.ts';
export { checkReferences } from './references.ts';
export { isSkillReference } from './agent-references.ts';
export { RULES, ruleOf } from './rules.ts';
export type { Rule, RuleId } from './rules.ts';
export { isDefinitionPath, isValidName, positionOf } from './source-positions.ts';
export type { NamedKind, SourcePosition } from './source-positions.ts';
export { sortedProblems, hasErrors } from './problems.ts';
export { withExcerpts } from './excerpts.ts';
export { postedTreeProblems, toTree } from './posted-trees.ts';
export type { PostedFile, PostedTreeProblem } from './posted-trees.ts';
export { FILE_BYTES_MAX } from './contents.ts';
export { SKILL_BYTES_MAX, SKILL_FILES_MAX } from './skill-folders.ts';
export { WEBHOOKS_MAX } from './webhook-references.ts';
export { readCron } from './cron.ts';
export type { CronFields, CronReading } from './cron.ts';
export { firesOn, nextTick, ticksBetween } from './cron-ticks.ts';
export { dueTick, nextDue, schedulesOf, TICK_LATE_MAX_MS } from './schedules.ts';
export type { Missed, TickDecision, WantedSchedule } from './schedules.ts';
export { nearest, didYouMean } from './suggest.ts';
export { refuseDeliveryIdHeader, SIGNATURE_HEADERS } from './delivery-id-header.ts';
export { isReservedVariable } from './run-secrets.ts';
export { checkAutomationValue, checkWebhookValue } from './definition-values.ts';
export type { AutomationNeighbours, CheckedValue, FileKeys, ValueProblem } from './definition-values.ts';
export {
  automationFileText,
  automationKeys,
  editedAutomationFile,
  editedWebhookFile,
  webhookFileText,
  webhookKeys,
} from './file-texts.ts';
export { slugOf, suggestedSecretName } from './slugs.ts';
