/**
 * The door of `#isolation`: what holds a run in: walls, network, which secrets it may carry, and what of them may be
 * printed.
 */
export { confinementProblem, isConfining, type ConfinementRequest } from './confinement.ts';
export {
  formatTarget,
  hostPatternOfUrl,
  matches,
  readHost,
  readHostPattern,
  readTarget,
  type Host,
  type HostPattern,
} from './egress-hosts.ts';
export * from './egress.ts';
export * from './host-injections.ts';
export * from './injection.ts';
export * from './redaction.ts';
export * from './repository-injections.ts';
export * from './secret-placement.ts';
