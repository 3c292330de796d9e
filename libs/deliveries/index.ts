/** The door of `#deliveries`: identity, outcomes, checks, rate windows, retention, as arithmetic. */
export * from './types.ts';
export * from './limits.ts';
export { CHECKS, type CheckName } from './checks.ts';
export {
  acceptedBody,
  INGRESS_ANSWERS,
  REFUSALS,
  type IngressAnswer,
  type IngressRefusal,
  type RefusalRule,
} from './answers.ts';
export { parseJsonBody, type ParsedBody } from './bodies.ts';
export {
  identify,
  refusedDeliveryId,
  resendIdentity,
  SERVICE_DELIVERY_HEADER,
  signedBodyIdentity,
  signedMessageIdentity,
  type IdentifiedWebhook,
} from './identities/identify.ts';
export { rowsIn } from './deferred/backlog.ts';
export { DeferredRows, type DeferredBounds, type RowsToCopy } from './deferred/deferred-rows.ts';
export { IdentityIndex } from './identities/identity-index.ts';
export { CHUNKS_PER_RUN, KeyRun, type KeyRunInfo, runOfChunk } from './identities/key-run.ts';
export {
  hasKey,
  IDENTITY_KEY_BYTES,
  identityKey,
  keyAt,
  keyCount,
  lowerBound,
  packKeys,
  sortKeys,
  SORTED_KEYS_MAX,
  positionAbove,
} from './identities/keys.ts';
export {
  levelOf,
  MERGE_POLICY,
  mergeInto,
  runsToMerge,
  type MergeInput,
  type MergePolicy,
  rangesOf,
  sortAllKeys,
} from './identities/merges.ts';
export {
  hasEncodedUnreserved,
  INGRESS_PATH_PREFIX,
  ingressUrlOf,
  routeFor,
  splitIngressPath,
  type IngressPath,
  type IngressRoute,
  type TokenSegment,
} from './paths.ts';
export { RecordPack, RecordPackWriter, type PackRange } from './record-packs.ts';
export { SlotRing, SlotWindows, type SlotResult } from './slots.ts';
export { drawRequest, type Draw } from './buckets.ts';
export { FailureBudgets, failureKey, type FailureBudgetOptions, type FailureVerdict } from './failure-budgets.ts';
export {
  formatAddress,
  formatCidrs,
  isWithin as isAddressWithin,
  parseAddress,
  parseCidrs,
  type Cidr,
  type IpAddress,
} from './addresses.ts';
export { addressKeyOf, clientAddress } from './client-addresses.ts';
export { AddressBodyBudget, type AddressBodyBudgetOptions, type UnfinishedBody } from './address-body-budgets.ts';
export { ReadRotation, type ReadRotationOptions } from './rotation/read-rotation.ts';
export { DecisionBudgets, FACTORY_READS_PER_MINUTE_MAX } from './decision-budgets.ts';
export { RefusedLogPolicy, ThrottledLogPolicy, type RefusedLogAction } from './refused-log.ts';
export { refusalDetails, type RefusalDetails } from './refusals.ts';
export { retentionClass, retentionCutoffMs, type RetentionClass } from './retention.ts';
export {
  decideRuns,
  decideRunsInSteps,
  decisionReadsMax,
  type SkippedAutomation,
  type Starts,
  type WebhookSubscription,
} from './starts.ts';
