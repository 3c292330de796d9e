/** The source of a factory as a form has it, and as the API takes it. */
import type { Api } from '../../api/client.ts';
import { SOURCE_KINDS, sourceKindOf, type SourceMember } from '../../api/source-kinds.ts';

type Source = Api<'FactorySource'>;

/** Texts as they were typed; blank: not said. */
export interface SourceDraft extends Record<SourceMember, string> {
  kind: Source['kind'];
  interval: string;
}

export const EMPTY_SOURCE: SourceDraft = {
  kind: 'git',
  url: '',
  branch: '',
  path: '',
  interval: '',
  credentialSecret: '',
  pushSecret: '',
  forge: '',
  forgeSecret: '',
  forgeApp: '',
  forgeUrl: '',
  forgeRepository: '',
};

/** Members whose faults stand at their fields. */
export const SOURCE_FIELDS = [
  ...new Set(SOURCE_KINDS.flatMap(({ fields }) => fields.map(({ pointer }) => pointer as string))),
  '/source/interval',
];

/** What the fields hold, by the pointers of their members. */
export function sourceValues(draft: SourceDraft): Record<string, string> {
  const texts = SOURCE_KINDS.flatMap(({ fields }) => fields.map(({ member, pointer }) => [pointer, draft[member]]));
  return { '/source/kind': draft.kind, ...Object.fromEntries(texts), '/source/interval': draft.interval };
}

export function draftOf({
  kind,
  url = '',
  branch = '',
  path = '',
  interval,
  credential_secret: credentialSecret = '',
  push_secret: pushSecret = '',
  forge,
  forge_secret: forgeSecret = '',
  forge_app: forgeApp = '',
  forge_url: forgeUrl = '',
  forge_repository: forgeRepository = '',
}: Source): SourceDraft {
  return {
    kind,
    url,
    branch,
    path,
    interval: interval === undefined ? '' : String(interval),
    credentialSecret,
    pushSecret,
    forge: forge ?? '',
    forgeSecret,
    forgeApp,
    forgeUrl,
    forgeRepository,
  };
}

/** What is asked of the API: what has to be said always, the rest where something was typed. */
export function sourceOf(draft: SourceDraft): Source {
  const { kind, interval } = draft;
  const { fields, isPolled } = sourceKindOf(draft);
  const texts = fields.flatMap(({ member, pointer, required }): [string, string][] => {
    const text = draft[member].trim();
    return required || text !== '' ? [[pointer.slice('/source/'.length), text]] : [];
  });
  const seconds = !isPolled || interval.trim() === '' ? {} : { interval: Number(interval) };
  return { kind, ...Object.fromEntries(texts), ...seconds };
}
