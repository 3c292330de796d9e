/**
 * What answers an edit of an automation that files decide: the file, the keys in it, and the text that does what was
 * asked.
 * contract §4.5 (managed definitions).
 */
import type { AutomationCreate, AutomationPatch } from '#contracts';
import {
  automationFileText,
  automationKeys,
  checkAutomationValue,
  editedAutomationFile,
  slugOf,
  type AutomationDefinition,
  type AutomationNeighbours,
  type FileKeys,
} from '#definitions';
import { sizeErrors } from './automation-edits.ts';
import { toAutomationMember, toFileKeys } from './automation-keys.ts';
import type { AutomationRecord, EditRefusal } from './factory-edits.ts';
import { managedInFile } from './managed-webhook-files.ts';
import { problemRefusal } from './validation-facts.ts';

/** An automation and the text of its file, as far as that is stored. */
export interface ManagedAutomation {
  automation: AutomationRecord;
  text: string | undefined;
}

/** An automation to be made is a file to be added. What the file could not say is 400 here already. */
export function refuseAutomationCreate(
  wanted: AutomationCreate,
  usedSlugs: ReadonlySet<string>,
  neighbours: AutomationNeighbours,
): EditRefusal {
  const slug = slugOf(wanted.name, 'automation', usedSlugs);
  const keys = toFileKeys(wanted);
  const file = `automations/${slug}/automation.md`;
  return (
    refusalOfBody(slug, keys, wanted.prompt, neighbours) ??
    managedInFile(`add ${file} with the text in edited_text`, {
      file,
      key: null,
      editedText: automationFileText(keys, wanted.prompt),
    })
  );
}

/** An edit is an edit of the file, a new name another file. */
export function refuseAutomationChange(
  { automation, text }: ManagedAutomation,
  wanted: AutomationPatch,
  neighbours: AutomationNeighbours,
): EditRefusal {
  const definition = JSON.parse(automation.definition) as AutomationDefinition;
  const changes = changesOf(definition, toFileKeys(wanted));
  const refusal = refusalOfBody(
    automation.slug,
    { ...automationKeys(definition), ...changes },
    wanted.prompt ?? definition.prompt,
    neighbours,
  );
  if (refusal !== undefined) return refusal;
  const before = text ?? automationFileText(automationKeys(definition), definition.prompt);
  const edited = editedAutomationFile(before, changes, wanted.prompt);
  if (wanted.name !== undefined && wanted.name !== automation.name)
    return refuseRename(automation, wanted.name, edited);
  const keys = [...Object.keys(changes), ...(wanted.prompt === undefined ? [] : ['the prompt'])].join(', ');
  return managedInFile(`edit ${keys === '' ? 'it' : keys} in ${fileOf(automation)}`, {
    file: fileOf(automation),
    key: keys === '' ? null : keys,
    editedText: edited,
  });
}

export function refuseAutomationDelete(automation: AutomationRecord): EditRefusal {
  const path = fileOf(automation);
  return managedInFile(`remove the file ${path}`, { file: path, key: null, editedText: null });
}

function refuseRename(automation: AutomationRecord, name: string, text: string): EditRefusal {
  const { slug } = automation;
  const newFile = `automations/${slugOf(name, 'automation', new Set([slug]))}/automation.md`;
  return managedInFile(`the name of an automation is the name of its folder; as ${newFile} it is another automation`, {
    file: fileOf(automation),
    key: null,
    editedText: text,
    new_file: newFile,
  });
}

/** Its file; of an automation that no file has taken over yet, the one that will be its own. */
function fileOf({ path, slug }: AutomationRecord): string {
  return path === '' ? `automations/${slug}/automation.md` : path;
}

/** Keys of the agent that the automation never had need no removal. */
function changesOf(definition: AutomationDefinition, wanted: FileKeys): FileKeys {
  const present = automationKeys(definition);
  return Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => value !== undefined || present[key] !== undefined),
  );
}

/** Secrets are checked when the file is applied. */
function refusalOfBody(
  slug: string,
  keys: FileKeys,
  prompt: string,
  neighbours: AutomationNeighbours,
): EditRefusal | undefined {
  return problemRefusal(
    checkAutomationValue(slug, keys, prompt, neighbours, {}).problems,
    toAutomationMember,
    sizeErrors(keys, prompt),
  );
}
