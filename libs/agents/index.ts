/** The door of `#agents`: how agents are started, configured and prompted, what they may ask, and what they use up. */
export * from './agent-config.ts';
export * from './skills.ts';
export * from './launch-profiles.ts';
export * from './built-in-profiles.ts';
export * from './harness-names.ts';
export * from './model-endpoints.ts';
export * from './agent-prompts.ts';
export * from './conversations.ts';
export * from './digest.ts';
export * from './output-sanitizer.ts';
export * from './transcripts.ts';
export { HeadAndTail, type Allowance, type HeadAndTailDeps } from './head-and-tail.ts';
export { abridged, type ValueBounds } from './value-bounds.ts';
export * from './permissions.ts';
export * from './agent-failures.ts';
export * from './usage.ts';
export * from './limits.ts';
export * from './usage-counter.ts';
export * from './models/model-access.ts';
export * from './models/model-facts.ts';
export * from './models/model-apis.ts';
export * from './models/model-requests.ts';
export * from './models/model-usage.ts';
export * from './models/usage-events.ts';
export * from './models/model-prices.ts';
export {
  changedIdentity,
  identityConfig,
  identityProblems,
  publishedIdentity,
  unservedMembers,
  type AgentIdentitySettings,
} from './agent-identities.ts';
