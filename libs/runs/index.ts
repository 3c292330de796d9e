/**
 * The door of `#runs`: what runs are called, which states they may reach, in which order they start, and how they are
 * listed.
 */
export * from './types.ts';
export * from './states.ts';
export * from './steering.ts';
export * from './permission-answers.ts';
export * from './takeover.ts';
export * from './run-end.ts';
export * from './supervision.ts';
export * from './envelope.ts';
export * from './titles.ts';
export * from './new-runs.ts';
export * from './identifiers.ts';
export * from './lists/cursors.ts';
export * from './lists/pages.ts';
export * from './ignored-members.ts';
export * from './requests.ts';
export * from './workspace/attachments.ts';
export * from './workspace/repositories.ts';
export * from './workspace/environments.ts';
export * from './workspace/artifacts.ts';
export * from './timeline.ts';
export * from './server-sent-events.ts';
export * from './scheduling/groups.ts';
export * from './scheduling/scheduled-agents.ts';
export * from './scheduling/schedule-requests.ts';
export * from './scheduling/fair-order.ts';
export * from './statistics/time-buckets.ts';
export { latencyFigures, readLatencies, type LatencyFigures } from './statistics/latencies.ts';
