/** The source of a factory as a form has it, and as the API takes it. */
import type { Api } from '../../api/client.ts';

type Source = Api<'FactorySource'>;

/** Texts as they were typed; blank: not said. */
export interface SourceDraft {
  kind: Source['kind'];
  url: string;
  branch: string;
  path: string;
  interval: string;
  credentialSecret: string;
  pushSecret: string;
}

export const EMPTY_SOURCE: SourceDraft = {
  kind: 'git',
  url: '',
  branch: '',
  path: '',
  interval: '',
  credentialSecret: '',
  pushSecret: '',
};

/** Members whose faults stand at their fields. */
export const SOURCE_FIELDS = [
  '/source/url',
  '/source/branch',
  '/source/path',
  '/source/interval',
  '/source/credential_secret',
  '/source/push_secret',
];

/** What the fields hold, by the pointers of their members. */
export function sourceValues({
  kind,
  url,
  branch,
  path,
  interval,
  credentialSecret,
  pushSecret,
}: SourceDraft): Record<string, string> {
  return {
    '/source/kind': kind,
    '/source/url': url,
    '/source/branch': branch,
    '/source/path': path,
    '/source/interval': interval,
    '/source/credential_secret': credentialSecret,
    '/source/push_secret': pushSecret,
  };
}

export function draftOf({
  kind,
  url = '',
  branch = '',
  path = '',
  interval,
  credential_secret: credentialSecret = '',
  push_secret: pushSecret = '',
}: Source): SourceDraft {
  return {
    kind,
    url,
    branch,
    path,
    interval: interval === undefined ? '' : String(interval),
    credentialSecret,
    pushSecret,
  };
}

export function sourceOf({ kind, url, branch, path, interval, credentialSecret, pushSecret }: SourceDraft): Source {
  const seconds = interval.trim() === '' ? {} : { interval: Number(interval) };
  if (kind === 'dashboard') return { kind };
  if (kind === 'directory') return { kind, path: path.trim(), ...seconds };
  return {
    kind,
    url: url.trim(),
    ...said({ branch, path, credential_secret: credentialSecret, push_secret: pushSecret }),
    ...seconds,
  };
}

function said<Name extends string>(texts: Record<Name, string>): Partial<Record<Name, string>> {
  return Object.fromEntries(
    Object.entries<string>(texts).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]])),
  ) as Partial<Record<Name, string>>;
}
