/**
 * Structured log lines on stderr: one JSON object a line, chosen members only, so that no secret, payload or path of a
 * request can slip in.
 */

import { types } from 'node:util';

export type LogMembers = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The least severe first. */
export const LOG_LEVELS = ['info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export class Log {
  private readonly write: (line: string) => void;
  private readonly nowMs: () => number;
  private readonly least: LogLevel;
  private isReportedElsewhere: (error: unknown) => boolean = () => false;
  /** `least`: lines below it are not written. */
  constructor(write: (line: string) => void, nowMs: () => number, least: LogLevel = 'info') {
    this.write = write;
    this.nowMs = nowMs;
    this.least = least;
  }

  info(message: string, members: LogMembers = {}): void {
    this.line('info', message, members);
  }

  warn(message: string, members: LogMembers = {}): void {
    this.line('warn', message, members);
  }

  error(message: string, members: LogMembers = {}): void {
    this.line('error', message, members);
  }

  /**
   * From now on faults are not written for whose error this is true: somebody tells of them in other words, and not at
   * every attempt.
   */
  suppress(isReportedElsewhere: (error: unknown) => boolean): void {
    this.isReportedElsewhere = isReportedElsewhere;
  }

  /** A bug or an outage: its kind and where it arose, with the stack of our own code, never a driver's detail. */
  fault(message: string, error: unknown, members: LogMembers = {}): void {
    if (this.isReportedElsewhere(error)) return;
    const stack = types.isNativeError(error) ? `${error.name}: ${error.message}\n${framesOf(error)}` : typeof error;
    this.line('error', message, { ...members, error: stack });
  }

  private line(level: LogLevel, message: string, members: LogMembers): void {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(this.least)) return;
    const entry = JSON.stringify({ at: new Date(this.nowMs()).toISOString(), level, message, ...members });
    this.write(`${entry.replace(UNESCAPED_CONTROLS, escaped)}\n`);
  }
}

/** What JSON leaves as it is, although terminals obey it or readers end a line there: DEL, C1, line separators. */
const UNESCAPED_CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function framesOf(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, 8)
    .join('\n');
}
