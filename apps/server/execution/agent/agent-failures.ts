/** What goes wrong with an agent, as errors of this program; what each means is decided in `#agents`. */
import { RequestError } from '@agentclientprotocol/sdk';
import { agentFailureOf, type AgentFailure, type AgentFault, type LaunchProfile, type Stage } from '#agents';

/** A task that this agent cannot be given; the message says what to change. */
export class UnconfigurableError extends Error {}

/** The agent did not take its credentials; the cause is what it said. */
export class UnauthenticatedError extends Error {}

/** The agent did not answer in time. */
export class TimeoutError extends Error {}

/** The agent sent a message of more values than are read. */
export class OverflowError extends Error {
  readonly nodesMax: number;
  constructor(nodesMax: number) {
    super(`a message of more than ${nodesMax} values`);
    this.nodesMax = nodesMax;
  }
}

/** The agent asks, and does not read the answers. */
export class UnreadOutputError extends Error {}

/** What went wrong, in words for the owner of the run. `isGone`: the connection has ended. */
export function agentFailure(
  stage: Stage,
  profile: Pick<LaunchProfile, 'id' | 'credentials'>,
  error: unknown,
  isGone: boolean,
): AgentFailure {
  return agentFailureOf(stage, profile, faultOf(error, isGone));
}

function faultOf(error: unknown, isGone: boolean): AgentFault {
  if (error instanceof UnauthenticatedError)
    return { kind: 'unauthenticated', error: error.cause instanceof RequestError ? error.cause : undefined };
  if (error instanceof UnconfigurableError) return { kind: 'unconfigurable', message: error.message };
  if (error instanceof TimeoutError) return { kind: 'timeout' };
  if (error instanceof RequestError) return { kind: 'answered', error };
  if (error instanceof UnreadOutputError) return { kind: 'unread-output' };
  if (error instanceof OverflowError) return { kind: 'overflow', nodesMax: error.nodesMax };
  if (isTooLarge(error)) return { kind: 'too-large', bytesMax: error.maxMessageBytes };
  return { kind: 'other', isGone };
}

/** The protocol's library tells the bound that was passed, and nothing of what came. */
function isTooLarge(error: unknown): error is { maxMessageBytes: number } {
  return error instanceof Error && typeof (error as { maxMessageBytes?: unknown }).maxMessageBytes === 'number';
}
