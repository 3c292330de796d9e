/**
 * What the pages know of each kind of source: one more kind is one more row. A kind of a newer server is shown as git.
 */
import type { Api } from './client.ts';

type Source = Api<'FactorySource'>;

/** Texts of a source that a form asks for, by their names in a draft. */
export type SourceMember = 'url' | 'branch' | 'path' | 'credentialSecret' | 'pushSecret' | ForgeMember;

/** Where pull requests are answered. */
type ForgeMember = 'forge' | 'forgeSecret' | 'forgeApp' | 'forgeUrl' | 'forgeRepository';

/** One field of a kind's form. */
export interface SourceField {
  member: SourceMember;
  /** JSON pointer into the body of a request; its end is the member's name there. */
  pointer: `/source/${string}`;
  label: string;
  description: string;
  placeholder: string;
  required: boolean;
}

export interface SourceKindRow {
  kind: Source['kind'];
  label: string;
  /** What choosing it means. */
  means: string;
  fields: readonly SourceField[];
  /** Whether it is looked at again by time, so that the form asks how often. */
  isPolled: boolean;
  /** Whether files change by commits, of which a host can tell. */
  hasCommits: boolean;
  /** Whether it is a plain folder, where a change of a file takes effect by itself. */
  isFolder: boolean;
  /** Where the files are, and details; undefined where there are none. */
  linesOf(source: Source): { what: string; detail: string } | undefined;
  /** Where the files are, as part of a sentence. */
  placeOf(source: Source): string;
}

const GIT: SourceKindRow = {
  kind: 'git',
  label: 'A git repository',
  means: 'What is merged into its branch is what serves. Webhooks and automations are read-only here.',
  fields: [
    {
      member: 'url',
      pointer: '/source/url',
      label: 'Repository URL',
      description: 'https or ssh, without user name and password',
      placeholder: 'https://git.example.com/acme/factory.git',
      required: true,
    },
    {
      member: 'branch',
      pointer: '/source/branch',
      label: 'Branch',
      description: 'Blank: the one that the repository’s HEAD names',
      placeholder: 'main',
      required: false,
    },
    {
      member: 'path',
      pointer: '/source/path',
      label: 'Folder in the repository',
      description: 'Blank: the repository’s root',
      placeholder: '',
      required: false,
    },
    {
      member: 'credentialSecret',
      pointer: '/source/credential_secret',
      label: 'Credential',
      description: 'Name of the secret, granted for “git”, that the repository is read with. Blank: it is public',
      placeholder: 'git-token',
      required: false,
    },
    {
      member: 'pushSecret',
      pointer: '/source/push_secret',
      label: 'Push secret',
      description: 'Name of the secret, granted for “forge”, that push notices are proven with. Blank: none are taken',
      placeholder: 'push',
      required: false,
    },
    {
      member: 'forge',
      pointer: '/source/forge',
      label: 'Forge',
      description: 'github, gitlab or gitea (Forgejo): its pull requests are answered. Blank: they are not',
      placeholder: 'github',
      required: false,
    },
    {
      member: 'forgeSecret',
      pointer: '/source/forge_secret',
      label: 'Token of the forge',
      description: 'Name of the secret, granted for “forge”, with the token for its interface',
      placeholder: 'forge-token',
      required: false,
    },
    {
      member: 'forgeApp',
      pointer: '/source/forge_app',
      label: 'GitHub App',
      description: 'Its ID or client ID; the secret above is its private key (PEM) then. Blank: the secret is a token',
      placeholder: '123456',
      required: false,
    },
    {
      member: 'forgeUrl',
      pointer: '/source/forge_url',
      label: 'Interface of the forge',
      description: 'Blank: derived from the repository URL',
      placeholder: 'https://git.example.com/api/v1',
      required: false,
    },
    {
      member: 'forgeRepository',
      pointer: '/source/forge_repository',
      label: 'Repository at the forge',
      description: 'owner/name. Blank: derived from the repository URL',
      placeholder: 'acme/factory',
      required: false,
    },
  ],
  isPolled: true,
  hasCommits: true,
  isFolder: false,
  linesOf: ({ url = '', branch, path }) => ({
    what: url,
    detail: [
      branch === undefined ? 'default branch' : `branch ${branch}`,
      ...(path === undefined ? [] : [`folder ${path}`]),
    ].join(', '),
  }),
  placeOf: ({ url = '', branch, path }) =>
    [url, branch === undefined ? '' : `branch ${branch}`, path === undefined ? '' : `folder ${path}`]
      .filter((part) => part !== '')
      .join(', '),
};

const DASHBOARD: SourceKindRow = {
  kind: 'dashboard',
  label: 'Managed here',
  means: 'Webhooks and automations are created and changed on these pages.',
  fields: [],
  isPolled: false,
  hasCommits: false,
  isFolder: false,
  linesOf: () => undefined,
  placeOf: () => '',
};

const DIRECTORY: SourceKindRow = {
  kind: 'directory',
  label: 'A folder of the server',
  means: 'Only where the operator of the service allows it.',
  fields: [
    {
      member: 'path',
      pointer: '/source/path',
      label: 'Folder',
      description: 'Absolute path on the server',
      placeholder: '/srv/factories/shop',
      required: true,
    },
  ],
  isPolled: true,
  hasCommits: false,
  isFolder: true,
  linesOf: ({ path = '' }) => ({ what: path, detail: 'folder of the server' }),
  placeOf: ({ path = '' }) => path,
};

/** In the order in which a form offers them. */
export const SOURCE_KINDS: readonly SourceKindRow[] = [GIT, DASHBOARD, DIRECTORY];

export function sourceKindOf({ kind }: Pick<Source, 'kind'>): SourceKindRow {
  return SOURCE_KINDS.find((row) => row.kind === kind) ?? GIT;
}
