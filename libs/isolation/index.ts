/**
 * The door of `#isolation`: what holds a run in: walls, network, which secrets it may carry, and what of them may be
 * printed.
 */
export { addressKind, type AddressKind } from './egress-addresses.ts';
export { confinementProblem, isConfining, type ConfinementRequest } from './confinement.ts';
export {
  formatPattern,
  formatTarget,
  hostPatternOfUrl,
  matches,
  readHost,
  readHostPattern,
  readTarget,
  type Host,
  type HostPattern,
} from './egress-hosts.ts';
export * from './egress-reach.ts';
export * from './egress.ts';
export * from './host-injections.ts';
export * from './injection.ts';
export * from './project-quota.ts';
export * from './redaction.ts';
export * from './repository-injections.ts';
export * from './secret-placement.ts';
export { ALLOWED_CALLS, callNumber, CONDITIONAL_CALLS, REFUSED_CALLS } from './seccomp-calls.ts';
export type { SeccompArchitecture } from './seccomp-calls.ts';
export { isSeccompArchitecture, seccompProgram, toFilterBytes } from './seccomp-program.ts';
export { CALL_RULES, ERRNO, SHARED_SEGMENT_BYTES_MAX } from './seccomp-rules.ts';
export * from './secret-reach.ts';
export * from './secret-release.ts';
