/** Which webhooks a trigger selects: names and UIDs go in, UIDs come out. contract §8.3 (webhook_ids). */
import { holdWith, holdWithMisplaced, report, suggestAmong, type Check } from './check.ts';
import { isValidName } from '../definition-paths.ts';
import { WEBHOOK_UID } from '../triggers/trigger-doubts.ts';
import { byCodeUnits } from '../rules/problems.ts';
import type { Trigger, WebhookTrigger, WrittenAutomation, WrittenWebhookTrigger } from '../types.ts';

/**
 * Resolves the triggers of one automation. Without known UIDs a name stands in the result as nothing: such a result is
 * only good for its problems, as in `millwright validate` without a server.
 */
export function resolveTriggers(check: Check, automation: WrittenAutomation): Trigger[] {
  const { path } = automation;
  const triggers = automation.triggers.map((trigger, index) => {
    return trigger.provider === 'webhook' ? resolve(check, path, trigger, `/triggers/${index}/filter`) : trigger;
  });
  reportDuplicates(check, automation, triggers);
  return triggers;
}

function resolve(check: Check, path: string, trigger: WrittenWebhookTrigger, pointer: string): WebhookTrigger {
  const named = trigger.webhookNames.flatMap((name, index) =>
    uidOfName(check, path, name, `${pointer}/webhooks/${index}`),
  );
  for (const [index, uid] of trigger.webhookIds.entries())
    checkUid(check, path, uid, `${pointer}/webhook_ids/${index}`);
  const webhookUids = [...new Set([...named, ...trigger.webhookIds])].sort(byCodeUnits);
  return { provider: 'webhook', webhookUids, ...(trigger.payload === undefined ? {} : { payload: trigger.payload }) };
}

function uidOfName(check: Check, path: string, name: string, pointer: string): string[] {
  if (name === '') return [];
  const file = check.webhookPaths.get(name);
  if (file === undefined) {
    const what = `webhook ${JSON.stringify(name)}`;
    if (holdWithMisplaced(check, path, pointer, { what, file: `webhooks/${name}.yaml` })) return [];
    const meant = nameInPath(name);
    const hint = check.webhookPaths.has(meant)
      ? `; did you mean ${JSON.stringify(meant)}?`
      : suggestAmong(check, meant, () => check.webhookPaths.keys()) || wayToDeclare(name);
    report(check, path, pointer, 'webhook-known', `webhook ${JSON.stringify(name)} is not declared here${hint}`);
    return [];
  }
  if (check.held.has(file)) holdWith(check, path, pointer, `webhook ${JSON.stringify(name)}`, file);
  return check.known.webhookUidOf === undefined ? [] : [check.known.webhookUidOf(name)];
}

/** The name of a webhook that is named by its file. */
function nameInPath(name: string): string {
  return /^(?:\.?\/)?(?:webhooks\/)?([^/]+)\.ya?ml$/.exec(name)?.[1] ?? name;
}

function wayToDeclare(name: string): string {
  return isValidName(name) ? `; add webhooks/${name}.yaml` : '; names are listed one by one, and are no patterns';
}

function checkUid(check: Check, path: string, uid: string, pointer: string): void {
  if (uid === '') return;
  const { liveWebhooks, deletedWebhookUids } = check.known;
  const slug = check.treeUids.get(uid) ?? liveWebhooks?.get(uid);
  const file = slug === undefined ? undefined : check.webhookPaths.get(slug);
  if (file !== undefined) {
    if (check.held.has(file)) holdWith(check, path, pointer, `webhook ${JSON.stringify(slug)}`, file);
    return;
  }
  if (slug !== undefined || deletedWebhookUids?.has(uid) === true) {
    const what = slug === undefined ? 'a deleted webhook' : `webhook ${JSON.stringify(slug)}, which this tree deletes`;
    return report(
      check,
      path,
      pointer,
      'webhook-deleted',
      `webhook_ids holds the UID of ${what}; the trigger does not fire for it`,
    );
  }
  // An unknown UID can only be told from a live, remembered or predicted one when all three are known.
  if (liveWebhooks === undefined || deletedWebhookUids === undefined || check.known.webhookUidOf === undefined) return;
  if (!WEBHOOK_UID.test(uid)) return; // its reader has said so
  const hint =
    suggestAmong(check, uid, () => [...check.treeUids.keys(), ...liveWebhooks.keys()]) ||
    '; list names under webhooks, or copy UIDs from the plan';
  report(
    check,
    path,
    pointer,
    'webhook-known',
    `webhook_ids holds ${JSON.stringify(uid)}, which is no webhook of this factory${hint}`,
  );
}

function reportDuplicates(check: Check, automation: WrittenAutomation, triggers: readonly Trigger[]): void {
  const first = new Map<string, number>();
  for (const [index, trigger] of triggers.entries()) {
    // One of which something is left out may differ in that.
    if (check.reading.faults.get(automation.path)?.touch(`/triggers/${index}`) === true) continue;
    // Names stay apart where their UIDs are not known.
    const written = automation.triggers[index];
    const names =
      written?.provider === 'webhook' && check.known.webhookUidOf === undefined
        ? [...written.webhookNames].sort(byCodeUnits)
        : [];
    const identity = JSON.stringify([trigger, names]);
    const earlier = first.get(identity);
    if (earlier === undefined) first.set(identity, index);
    else if (trigger.provider !== 'inactive') {
      const same = `triggers[${index}] is the same as triggers[${earlier}]`;
      const message = `${same}; a delivery starts one run either way; remove one of the two`;
      report(check, automation.path, `/triggers/${index}`, 'duplicate-trigger', message);
    }
  }
}
