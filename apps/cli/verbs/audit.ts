/** `millwright audit`: the trail of every change, newest first. contract §2. */
import type { AuditEntry } from '#client';
import { apiVerb } from '../connection/api.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { toSeconds, type Cell } from '../terminal/output.ts';
import { noteMore, PAGE_OPTIONS, pageQuery } from '../connection/pages.ts';

/** The verb `audit`. */
export const audit = apiVerb({
  name: 'audit',
  summary: 'Shows who changed what, when, and from where, newest first.',
  options: {
    factory: { type: 'string', value: 'FACTORY', help: 'only what concerns this factory (slug or UID)' },
    action: { type: 'string', value: 'ACTION', help: 'only this action, such as secret.change' },
    subject: { type: 'string', value: 'SUBJECT', help: "only changes of this: an ID, or a secret's name" },
    actor: { type: 'string', value: 'UID', help: 'only what this principal did' },
    since: { type: 'string', value: 'TIME', help: 'from this time on (RFC 3339, such as 2030-01-31T00:00:00Z)' },
    until: { type: 'string', value: 'TIME', help: 'before this time' },
    ...PAGE_OPTIONS,
  },
  async run({ values: { factory, action, subject, actor, since, until, ...page } }, { api, output }) {
    const factoryUid = factory === undefined ? undefined : (await findFactory(api, factory)).uid;
    const query = { ...pageQuery(page), factory_uid: factoryUid, action, subject, actor, since, until };
    const { body: answer } = await api.audit.list(query);
    output.result(answer, () => {
      if (answer.entries.length === 0) return output.note('there are no such changes');
      output.table(['AT', 'WHO', 'ACTION', 'SUBJECT', 'FACTORY', 'FROM', 'DETAILS'], answer.entries.map(rowOf), 6);
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

function rowOf({ at, principal, action, subject, factory_uid: factoryUid, address, details }: AuditEntry): Cell[] {
  const facts = Object.entries(details).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [toSeconds(at), principal.display_name, action, subject, factoryUid ?? '-', address ?? '-', facts.join(' ')];
}
