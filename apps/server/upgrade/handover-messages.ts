/**
 * What the supervisor and the service below it say to each other, in this order. Both may be of different versions.
 * contract §1.8 (Upgrades).
 */

/** A connection that another process takes over; its handle comes with it. */
export interface ConnectionMessage {
  millwright: 'connection';
  isTrusted: boolean;
}

/**
 * To the service: rehearse; begin; step aside and keep everything for coming back; come back; end. `all-passed`: no
 * more connections come before it serves.
 */
export type ToService =
  | { millwright: 'rehearse' | 'aside' | 'resume' | 'end' | 'all-passed' }
  | { millwright: 'begin'; isPassingFirst?: boolean }
  | ConnectionMessage;

/**
 * From the service: its program is loaded, and holds connections that come before it serves; it has rehearsed; it
 * serves; nothing of it is open any more but connections, which follow; they have all been passed; it could not begin.
 */
export type FromService =
  | { millwright: 'rehearsed' | 'serving' | 'passed' }
  | { millwright: 'loaded'; holdsConnections?: boolean }
  | { millwright: 'aside'; pausedMs: number }
  | { millwright: 'failed'; lines: readonly string[] }
  | ConnectionMessage;

export function isHandoverMessage(message: unknown): message is ToService | FromService {
  return typeof message === 'object' && message !== null && 'millwright' in message;
}

/** To the supervisor, over its socket in the data folder: one line of JSON. */
export interface UpgradeRequest {
  /** The program of Node.js, and the command of Millwright that it runs. */
  node: string;
  program: string;
}

/** Back, one line of JSON for each step; the last one has `done`. */
export type UpgradeReport = { step: string } | UpgradeResult;

export interface UpgradeResult {
  done: 'upgraded' | 'refused' | 'rolled-back' | 'lost';
  /** Why it is not the new one. */
  lines: readonly string[];
  /** Milliseconds for which nobody took connections or read of them: they waited in the kernel. */
  pausedMs: number;
}

/** Name of the supervisor's socket in the data folder. */
export const UPGRADE_SOCKET = 'upgrade.sock';
