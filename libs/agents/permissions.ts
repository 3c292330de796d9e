/** Who decides what an agent asks permission for, and which option a message names. contract §3.8 (Follow-up), §10. */
import type { Tier } from '#isolation';

export const PERMISSION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
export type PermissionKind = (typeof PERMISSION_KINDS)[number];

/** One of the answers that an agent offers. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: PermissionKind;
}

export interface PermissionSituation {
  tier: Tier;
  /** Its sandbox keeps it from the machine. */
  isConfined: boolean;
  /** Somebody was said to watch and answer. */
  interactive: boolean;
  /** Minutes that an answer is waited for; 0: it is not. */
  idleMinutes: number;
}

/** Minutes that an answer is waited for unless the configuration says otherwise. contract §3.4 (AmbientAgentConfig). */
export const IDLE_MINUTES = 10;

/**
 * People are asked, or the policy has chosen: without an option the request is answered as cancelled. `text` says which
 * and why.
 */
export type PermissionRuling = { by: 'people' } | { by: 'policy'; option?: PermissionOption; text: string };

/**
 * Who decides: the strict tier refuses, an interactive run asks people, any other run allows what its sandbox allows.
 * contract §10.
 */
export function permissionRuling(
  options: readonly PermissionOption[],
  { tier, isConfined, interactive, idleMinutes }: PermissionSituation,
): PermissionRuling {
  if (tier === 'strict') return refused(options, 'a delivery started this run');
  if (interactive && idleMinutes > 0 && options.length > 0) return { by: 'people' };
  if (interactive)
    return refused(
      options,
      idleMinutes === 0 ? 'nobody is waited for (idle_timeout_minutes is 0)' : 'the agent offers no answers',
    );
  const option = allowing(options);
  return option === undefined
    ? { by: 'policy', text: 'not allowed: the agent offers no answer that allows it' }
    : {
        by: 'policy',
        option,
        text:
          'allowed: nobody was said to watch the ' +
          `run, ${isConfined ? 'and it is in its sandbox' : 'which has NO complete sandbox here'}`,
      };
}

function refused(options: readonly PermissionOption[], why: string): PermissionRuling {
  const option = rejecting(options);
  return {
    by: 'policy',
    option,
    text:
      option === undefined
        ? `cancelled, because the agent offers no answer that refuses it: ${why}`
        : `refused: ${why}`,
  };
}

/** The answer that allows the least. */
export function allowing(options: readonly PermissionOption[]): PermissionOption | undefined {
  return ofKind(options, 'allow_once') ?? ofKind(options, 'allow_always');
}

/** The answer that refuses the least; undefined: only a cancel does. */
export function rejecting(options: readonly PermissionOption[]): PermissionOption | undefined {
  return ofKind(options, 'reject_once') ?? ofKind(options, 'reject_always');
}

function ofKind(options: readonly PermissionOption[], wanted: PermissionKind): PermissionOption | undefined {
  return options.find(({ kind }) => kind === wanted);
}

const YES: ReadonlySet<string> = new Set(['allow', 'yes']);
const NO: ReadonlySet<string> = new Set(['reject', 'no']);

/** The answer that a message names: by ID, by name, or by allow, yes, reject, no; undefined: it is something else. */
export function optionMeant(message: string, options: readonly PermissionOption[]): PermissionOption | undefined {
  const said = plain(message);
  const named =
    options.find(({ optionId }) => optionId === message.trim()) ??
    options.find(({ optionId }) => plain(optionId) === said) ??
    options.find(({ name }) => plain(name) === said);
  if (named !== undefined) return named;
  if (YES.has(said)) return allowing(options);
  return NO.has(said) ? rejecting(options) : undefined;
}

function plain(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[.!]+$/, '');
}
