/** What answers an edit of an automation that files decide: the file, the keys in it, and the text that does what was asked. contract 4 (managed definitions). */
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
import type { AutomationRow } from '../store/definitions/definition.entities.ts';
import type { RefusalError } from '../http/error-codes.ts';
import { refusalOf } from '../webhooks/validation-facts.ts';
import { belongsIntoFile } from '../webhooks/managed-webhook-files.ts';
import { sizeErrors } from './automation-edits.ts';
import { toAutomationMember, toFileKeys } from './automations.items.ts';

/** An automation and the text of its file, as far as that was kept. */
export interface ManagedAutomation {
  automation: AutomationRow;
  text: string | undefined;
}

/** An automation to be made is a file to be added. What the file could not say is 400 here already. */
export function refuseAutomationCreate(
  wanted: AutomationCreate,
  takenSlugs: ReadonlySet<string>,
  neighbours: AutomationNeighbours,
): RefusalError {
  const slug = slugOf(wanted.name, 'automation', takenSlugs);
  const keys = toFileKeys(wanted);
  const file = `automations/${slug}/automation.md`;
  return (
    refusalOfBody(slug, keys, wanted.prompt, neighbours) ??
    belongsIntoFile(`add ${file} with the text in edited_text`, file, null, automationFileText(keys, wanted.prompt))
  );
}

/** An edit is an edit of the file, a new name another file. */
export function refuseAutomationChange(
  { automation, text }: ManagedAutomation,
  wanted: AutomationPatch,
  neighbours: AutomationNeighbours,
): RefusalError {
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
  return belongsIntoFile(
    `edit ${keys === '' ? 'it' : keys} in ${fileOf(automation)}`,
    fileOf(automation),
    keys === '' ? null : keys,
    edited,
  );
}

export function refuseAutomationDelete(automation: AutomationRow): RefusalError {
  const path = fileOf(automation);
  return belongsIntoFile(`remove the file ${path}`, path, null, null);
}

function refuseRename(automation: AutomationRow, name: string, text: string): RefusalError {
  const { slug } = automation;
  const newFile = `automations/${slugOf(name, 'automation', new Set([slug]))}/automation.md`;
  return belongsIntoFile(
    `the name of an automation is the name of its folder; as ${newFile} it is another automation`,
    fileOf(automation),
    null,
    text,
    { new_file: newFile },
  );
}

/** Its file; of an automation that no file has taken over yet, the one that will be its own. */
function fileOf({ path, slug }: AutomationRow): string {
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
): RefusalError | undefined {
  return refusalOf(
    checkAutomationValue(slug, keys, prompt, neighbours, {}).problems,
    toAutomationMember,
    sizeErrors(keys, prompt),
  );
}
