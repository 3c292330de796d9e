/**
 * What a request to make, edit or delete an automation of a dashboard factory comes to, decided on the factory as it
 * is: every rule of automation files holds. contract §4, §8.
 */
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
import type { RequestProblem } from '#runs';
import { toAutomationMember, toFileKeys } from './automation-keys.ts';
import {
  refusedEdit,
  webhookDefinitionOf,
  type AutomationRecord,
  type EditVerdict,
  type FactoryRecord,
  type RefusedEdit,
} from './factory-edits.ts';
import { problemRefusal, validationFacts } from './validation-facts.ts';

/** contract §4.3 (Create on a dashboard factory). */
export function createdAutomation(factory: FactoryRecord, wanted: AutomationCreate, uidKey: Uint8Array): EditVerdict {
  const slug = slugOf(wanted.name, 'automation', new Set(factory.automations.map((automation) => automation.slug)));
  const checked = checkedAutomation(factory, { slug, keys: toFileKeys(wanted), prompt: wanted.prompt }, uidKey);
  if (!checked.ok) return checked;
  // What a repository may hold, a dashboard may.
  if (factory.webhooks.length + factory.automations.length >= DEFINITION_FILES_MAX)
    return refusedEdit({
      kind: 'not-supported',
      detail: `a factory has at most ${DEFINITION_FILES_MAX} webhooks and automations`,
    });
  const { definition } = checked;
  const uid = deriveUid(uidKey, 'automation', factory.slug, slug);
  return {
    ok: true,
    uid,
    objects: [labelled(uid, wanted.name, definition)],
    change: {
      action: 'automation.create',
      subject: uid,
      factoryUid: factory.uid,
      details: { slug, enabled: definition.enabled },
    },
  };
}

/** Members that are absent stay, the others are replaced whole; a name is a label. */
export function changedAutomation(
  factory: FactoryRecord,
  wanted: AutomationPatch,
  isWanted: (version: number) => boolean,
  uidKey: Uint8Array,
): EditVerdict {
  const found = foundAutomation(factory, isWanted);
  if (!found.ok) return found;
  const { uid, slug, ...automation } = found.automation;
  const before = JSON.parse(automation.definition) as AutomationDefinition;
  const keys = { ...automationKeys(before), ...toFileKeys(wanted) };
  const checked = checkedAutomation(factory, { slug, keys, prompt: wanted.prompt ?? before.prompt }, uidKey);
  if (!checked.ok) return checked;
  const { definition } = checked;
  const name = wanted.name ?? automation.name;
  if (name === automation.name && JSON.stringify(definition) === JSON.stringify(before)) return { ok: true, uid };
  return {
    ok: true,
    uid,
    objects: [labelled(uid, name, definition)],
    change: {
      action: 'automation.change',
      subject: uid,
      factoryUid: factory.uid,
      details: { slug, changed: changedMembers(wanted), enabled: definition.enabled },
    },
  };
}

/** Deleting what is gone is 404: it looks like what never was. Runs that it started go on. */
export function deletedAutomation(factory: FactoryRecord, isWanted: (version: number) => boolean): EditVerdict {
  const found = foundAutomation(factory, isWanted);
  if (!found.ok) return found;
  const { uid, slug } = found.automation;
  return {
    ok: true,
    uid,
    deletions: [{ kind: 'automation', uid }],
    change: { action: 'automation.delete', subject: uid, factoryUid: factory.uid, details: { slug } },
  };
}

/** What is wrong with keys and prompt beyond the rules: a file of this size would not be read. */
export function sizeErrors(keys: FileKeys, prompt: string): RequestProblem[] {
  const bytes = Buffer.byteLength(JSON.stringify(keys)) + Buffer.byteLength(prompt);
  return bytes <= FILE_BYTES_MAX
    ? []
    : [{ pointer: '', message: `has ${bytes} bytes; an automation has at most ${FILE_BYTES_MAX} (256 KiB)` }];
}

/** The automation that these keys and this prompt make in the factory. */
function checkedAutomation(
  factory: FactoryRecord,
  { slug, keys, prompt }: { slug: string; keys: FileKeys; prompt: string },
  uidKey: Uint8Array,
): { ok: true; definition: AutomationDefinition } | RefusedEdit {
  const neighbours = {
    webhooks: factory.webhooks.map(webhookDefinitionOf),
    environmentNames: factory.environments.map((one) => one.slug),
    skillNames: factory.skills.map((one) => one.slug),
  };
  const facts = validationFacts(factory, uidKey);
  const { definition, problems } = checkAutomationValue(slug, keys, prompt, neighbours, facts);
  const reason = problemRefusal(problems, toAutomationMember, sizeErrors(keys, prompt));
  if (reason !== undefined) return refusedEdit(reason);
  if (definition === undefined) throw new Error('a definition was refused without a problem');
  return { ok: true, definition };
}

function foundAutomation(
  { automation }: FactoryRecord,
  isWanted: (version: number) => boolean,
): { ok: true; automation: AutomationRecord } | RefusedEdit {
  if (automation === undefined) return refusedEdit({ kind: 'not-found', what: 'the automation' });
  return isWanted(automation.version)
    ? { ok: true, automation }
    : refusedEdit({ kind: 'stale-version', what: 'the automation', version: automation.version });
}

const MEMBERS = [
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

/** Names of members, never what they say. */
function changedMembers(wanted: AutomationPatch): string[] {
  return MEMBERS.filter((member) => wanted[member] !== undefined);
}

function labelled(uid: string, name: string, definition: AutomationDefinition) {
  // Nothing of a dashboard factory stands in a file.
  return { name, object: { kind: 'automation' as const, uid, slug: definition.name, path: '', definition } };
}
