/** The door of the definitions: file texts → definitions and positioned problems; cross-file rules. */
export * from './types.ts';
export { readDefinitions, readingSteps, DEFINITION_FILES_MAX } from './read.ts';
export { checkReferences } from './references/references.ts';
export { agentsHere, type AgentsHere } from './references/agent-availability.ts';
export { isSkillReference } from './references/agent-references.ts';
export { RULES, isRuleId, ruleOf } from './rules/rules.ts';
export { ruleTextOf, type RuleText } from './rules/texts/index.ts';
export type { Rule, RuleId } from './rules/rules.ts';
export { isDefinitionPath, isValidName, classifyPath, leadsToDefinitions } from './definition-paths.ts';
export type { NamedKind, PathKind } from './definition-paths.ts';
export { sortedProblems, hasErrors } from './rules/problems.ts';
export { formatDefinition, hasLayout, type Formatting } from './formatting/format.ts';
export { fixesFor, type FileFix } from './fixes/apply-fixes.ts';
export { completionsAt, type Completion, type DeclaredNames } from './assistance/completions.ts';
export { declaredNames } from './assistance/declared-names.ts';
export { keyTextAt, type KeyText } from './assistance/key-texts.ts';
export { withExcerpts } from './excerpts/excerpts.ts';
export { OPEN_TREE, openTreeProblems, postedTreeProblems, toTree } from './trees/posted-trees.ts';
export type { PostedFile, PostedTreeProblem } from './trees/posted-trees.ts';
export { FILE_BYTES_MAX, TREE_BYTES_MAX } from './trees/contents.ts';
export { SKILL_BYTES_MAX, SKILL_FILES_MAX } from './trees/skill-folders.ts';
export { deferredResolutions, withoutUnsent, type DeferredResolution } from './references/deferred-resolutions.ts';
export { WEBHOOKS_MAX } from './references/webhook-references.ts';
export { readCron, readSchedule } from './schedules/cron.ts';
export type { CronFields, CronReading, ScheduleReading, ScheduleTimes } from './schedules/cron.ts';
export { firesOn, nextTick, ticksBetween } from './schedules/cron-ticks.ts';
export { dueTick, nextDue, schedulesOf, TICK_LATE_MAX_MS } from './schedules/schedules.ts';
export type { Missed, TickDecision, WantedSchedule } from './schedules/schedules.ts';
export { capabilitiesOf, type AutomationCapabilities } from './trust/capabilities.ts';
export { isCredentialText } from './trust/credential-texts.ts';
export { WRITERS } from './trust/writers.ts';
export { nearest, didYouMean } from './suggest.ts';
export { memberHint } from './member-hints.ts';
export { refuseDeliveryIdHeader } from './delivery-id-header.ts';
export { replayAdvice, type Advice } from './replay-advice.ts';
export {
  isExposedSilently,
  isReservedVariable,
  MODEL_KEY_VARIABLES,
  runSecretFault,
  type RunSecret,
} from './run-secrets.ts';
export {
  mayBeInside,
  mayBeNamedIn,
  mayGiveToRun,
  RUN_GRANT_ENTRY,
  type RunGrant,
  type SecretNaming,
} from './run-grants.ts';
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
