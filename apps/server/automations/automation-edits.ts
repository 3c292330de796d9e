/** What a request to make, edit or delete an automation of a dashboard factory comes to, decided on the factory as it is: every rule of automation files holds. contract 4, 8. */
import type { AutomationCreate, AutomationPatch } from '#contracts';
import {
  automationKeys,
  checkAutomationValue,
  DEFINITION_FILES_MAX,
  FILE_BYTES_MAX,
  slugOf,
  type AutomationDefinition,
  type FileKeys,
} from '#definitions';
import { deriveUid } from '#reconcile';
import type {
  EditableFactory,
  EditDecision,
  EditedFactory,
  LabelledObject,
} from '../store/definitions/definition-edits.ts';
import type { AutomationRow } from '../store/definitions/definition.entities.ts';
import { notFound, RefusalError, type MemberError } from '../http/error-codes.ts';
import { staleVersion, type WantedVersion } from '../http/if-match.ts';
import { validationFacts, refusalOf } from '../webhooks/validation-facts.ts';
import { definitionOf } from '../webhooks/webhook-edits.ts';
import { toAutomationMember, toFileKeys } from './automations.items.ts';

/** The automation as it is told of in the transaction. */
export type AutomationDecision = EditDecision<AutomationRow, RefusalError>;

export function createdAutomation(
  factory: EditableFactory,
  wanted: AutomationCreate,
  uidKey: Uint8Array,
): AutomationDecision {
  const slug = slugOf(wanted.name, 'automation', new Set(factory.automations.map((automation) => automation.slug)));
  const checked = soundAutomation(factory, slug, toFileKeys(wanted), wanted.prompt, uidKey);
  if (checked instanceof Error) return { ok: false, no: checked };
  // What a repository may hold, a dashboard may.
  if (factory.webhooks.length + factory.automations.length >= DEFINITION_FILES_MAX)
    return {
      ok: false,
      no: new RefusalError(
        'operation_not_supported',
        `a factory has at most ${DEFINITION_FILES_MAX} webhooks and automations`,
      ),
    };
  const uid = deriveUid(uidKey, 'automation', factory.slug, slug);
  return {
    ok: true,
    objects: [labelled(uid, wanted.name, checked)],
    change: {
      action: 'automation.create',
      subject: uid,
      factoryUid: factory.uid,
      details: { slug, enabled: checked.enabled },
    },
    answer: written,
  };
}

/** Members that are absent stay, the others are replaced whole; a name is a label. */
export function changedAutomation(
  factory: EditableFactory,
  wanted: AutomationPatch,
  isWanted: WantedVersion,
  uidKey: Uint8Array,
): AutomationDecision {
  const found = foundAutomation(factory, isWanted);
  if ('no' in found) return { ok: false, no: found.no };
  const { automation } = found;
  const before = JSON.parse(automation.definition) as AutomationDefinition;
  const checked = soundAutomation(
    factory,
    automation.slug,
    { ...automationKeys(before), ...toFileKeys(wanted) },
    wanted.prompt ?? before.prompt,
    uidKey,
  );
  if (checked instanceof Error) return { ok: false, no: checked };
  const name = wanted.name ?? automation.name;
  const isSame = name === automation.name && JSON.stringify(checked) === JSON.stringify(before);
  return {
    ok: true,
    objects: isSame ? [] : [labelled(automation.uid, name, checked)],
    change: isSame
      ? undefined
      : {
          action: 'automation.change',
          subject: automation.uid,
          factoryUid: factory.uid,
          details: { slug: automation.slug, changed: changedMembers(wanted), enabled: checked.enabled },
        },
    answer: written,
  };
}

/** Deleting what is gone is 404: it looks like what never was. Runs that it started go on. */
export function deletedAutomation(
  factory: EditableFactory,
  isWanted: WantedVersion,
): EditDecision<undefined, RefusalError> {
  const found = foundAutomation(factory, isWanted);
  if ('no' in found) return { ok: false, no: found.no };
  const { uid, slug } = found.automation;
  return {
    ok: true,
    deletions: [{ kind: 'automation', uid }],
    change: { action: 'automation.delete', subject: uid, factoryUid: factory.uid, details: { slug } },
    answer: () => undefined,
  };
}

/** What is wrong with keys and prompt beyond the rules: a file of this size would not be read. */
export function sizeErrors(keys: FileKeys, prompt: string): MemberError[] {
  const bytes = Buffer.byteLength(JSON.stringify(keys)) + Buffer.byteLength(prompt);
  return bytes <= FILE_BYTES_MAX
    ? []
    : [{ pointer: '', message: `has ${bytes} bytes; an automation has at most ${FILE_BYTES_MAX} (256 KiB)` }];
}

function soundAutomation(
  factory: EditableFactory,
  slug: string,
  keys: FileKeys,
  prompt: string,
  uidKey: Uint8Array,
): AutomationDefinition | RefusalError {
  const neighbours = {
    webhooks: factory.webhooks.map(definitionOf),
    environmentNames: factory.environments.map((one) => one.slug),
    skillNames: factory.skills.map((one) => one.slug),
  };
  const { definition, problems } = checkAutomationValue(
    slug,
    keys,
    prompt,
    neighbours,
    validationFacts(factory, uidKey),
  );
  const refusal = refusalOf(problems, toAutomationMember, sizeErrors(keys, prompt));
  if (refusal !== undefined) return refusal;
  if (definition === undefined) throw new Error('a definition was refused without a problem');
  return definition;
}

function foundAutomation(
  { automation }: EditableFactory,
  isWanted: WantedVersion,
): { automation: AutomationRow } | { no: RefusalError } {
  if (automation === undefined) return { no: notFound('the automation') };
  return isWanted(automation.version) ? { automation } : { no: staleVersion('the automation', automation.version) };
}

/** Names of members, never what they say. */
function changedMembers(wanted: AutomationPatch): string[] {
  const members = [
    'name',
    'description',
    'enabled',
    'triggers',
    'prompt',
    'agent',
    'concurrency',
    'limits',
    'network',
  ] as const;
  return members.filter((member) => wanted[member] !== undefined);
}

function labelled(uid: string, name: string, definition: AutomationDefinition): LabelledObject {
  // Nothing of a dashboard factory stands in a file.
  return { name, object: { kind: 'automation', uid, slug: definition.name, path: '', definition } };
}

function written({ automation }: EditedFactory): AutomationRow {
  if (automation === undefined) throw new Error('an automation that was written is not there');
  return automation;
}
