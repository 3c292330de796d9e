/** Validation errors of the form by JSON pointer into its request, shown at the field of the pointer. */
import { problemOf } from '../../../api/problems.ts';
import { fieldErrorText } from '../../../components/forms/field-error-words.ts';
import { SETTINGS, type Draft, type FieldError, type TriggerDraft } from './draft.ts';

export interface FormErrors {
  /** What is wrong with a member as a whole or anywhere in it. */
  at: (pointer: string) => string | undefined;
  /** Faults below a pointer, by pointers relative to it; its own is the empty one. */
  below: (pointer: string) => FieldError[];
  /** Where a trigger of the form stood in the request; undefined for one that was not part of it. */
  pointerOf: (trigger: TriggerDraft) => string | undefined;
}

/** Members whose faults stand at their fields. */
export const SHOWN_AT_FIELDS = [
  '/name',
  '/description',
  '/enabled',
  '/triggers',
  '/prompt',
  '/settings',
  ...SETTINGS.map((name) => `/${name}`),
];

/**
 * `asked` is the draft that was refused, `now` what the form has: triggers may have been moved or removed since, and
 * what was edited since is not said to be wrong any more.
 */
export function formErrors(
  asked: Draft | undefined,
  now: Draft,
  local: readonly FieldError[],
  error: unknown,
): FormErrors {
  const faults = [...local, ...(problemOf(error)?.body?.errors ?? [])].filter(
    ({ pointer }) => asked === undefined || asSaid(asked, pointer, asked) === asSaid(asked, pointer, now),
  );
  const below = (pointer: string): FieldError[] =>
    faults
      .filter((fault) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`))
      .map(({ pointer: whole, message }) => ({ pointer: whole.slice(pointer.length), message }));
  const active = asked === undefined ? [] : activeTriggers(asked);
  return {
    below,
    at: (pointer) => {
      const [first] = below(pointer);
      return first && fieldErrorText(pointer + first.pointer, first.message);
    },
    pointerOf: ({ id }) => {
      const index = active.findIndex((trigger) => trigger.id === id);
      return index === -1 ? undefined : `/triggers/${index}`;
    },
  };
}

const MEMBERS_OF_TRIGGERS: Readonly<Record<string, (trigger: TriggerDraft) => unknown>> = {
  webhook_uids: (trigger) => 'webhookUids' in trigger && trigger.webhookUids,
  payload: (trigger) => 'filter' in trigger && trigger.filter,
  name: (trigger) => 'name' in trigger && trigger.name,
  cron: (trigger) => 'cron' in trigger && trigger.cron,
};

/** What `draft` has for a member of the request that `asked` made, as text. */
function asSaid(asked: Draft, pointer: string, draft: Draft): string {
  const [, member = '', index, ofTrigger = ''] = pointer.split('/');
  if (member === 'name' || member === 'description' || member === 'enabled' || member === 'prompt')
    return String(draft[member]);
  if (member !== 'triggers') return draft.settings;
  if (index === undefined) return String(draft.triggers.length);
  const id = activeTriggers(asked)[Number(index)]?.id;
  const trigger = draft.triggers.find((one) => one.id === id);
  return trigger === undefined ? '' : JSON.stringify(MEMBERS_OF_TRIGGERS[ofTrigger]?.(trigger) ?? trigger);
}

/** Those that are part of a request. */
function activeTriggers({ triggers }: Draft): readonly TriggerDraft[] {
  return triggers.filter(({ provider }) => provider !== 'inactive');
}
