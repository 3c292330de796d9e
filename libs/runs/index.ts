/** The door of `#runs`: what runs are called, told, allowed to become and allowed to print. */
export * from './types.ts';
export * from './states.ts';
export * from './steering.ts';
export * from './permissions.ts';
export * from './digest.ts';
export * from './agent-prompts.ts';
export * from './takeover.ts';
export * from './supervision.ts';
export * from './envelope.ts';
export * from './titles.ts';
export * from './identifiers.ts';
export * from './cursors.ts';
export * from './pages.ts';
export * from './requests.ts';
export * from './attachments.ts';
export * from './agent-config.ts';
export * from './skills.ts';
export * from './repositories.ts';
export * from './environments.ts';
export * from './injection.ts';
export * from './redaction.ts';
export * from './artifacts.ts';
export * from './timeline.ts';
export * from './conversations.ts';
export * from './server-sent-events.ts';
export {
  formatTarget,
  hostPatternOfUrl,
  readHost,
  readHostPattern,
  matches,
  readTarget,
  type Host,
  type HostPattern,
} from './egress-hosts.ts';
export * from './egress.ts';
export * from './launch-profiles.ts';
export * from './limits.ts';
export * from './model-endpoints.ts';
export * from './usage.ts';
export { confinementProblem, isConfining, type ConfinementRequest } from './confinement.ts';
export * from './groups.ts';
export * from './fair-order.ts';
export * from './time-buckets.ts';
export { latencyFigures, readLatencies, type LatencyFigures } from './latencies.ts';
