/** The fields of a factory's source. */
import { Radio, Stack, TextInput } from '@mantine/core';
import type { SourceDraft } from './source-draft.ts';

const KINDS: readonly { kind: SourceDraft['kind']; label: string; means: string }[] = [
  {
    kind: 'git',
    label: 'A git repository',
    means: 'What is merged into its branch is what serves. Webhooks and automations are read-only here.',
  },
  {
    kind: 'dashboard',
    label: 'Managed here',
    means: 'Webhooks and automations are created and changed on these pages.',
  },
  { kind: 'directory', label: 'A folder of the server', means: 'Only where the operator of the service allows it.' },
];

interface SourceFieldsProps {
  draft: SourceDraft;
  /** What is wrong with a member, by its JSON pointer. */
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<SourceDraft>) => void;
}

export function SourceFields({ draft, fault, onChange }: SourceFieldsProps) {
  return (
    <>
      <Radio.Group
        label="Where its definitions come from"
        value={draft.kind}
        onChange={(kind) => onChange({ kind })}
        error={fault('/source/kind')}
      >
        <Stack gap="xs" mt="xs">
          {KINDS.map(({ kind, label, means }) => (
            <Radio key={kind} value={kind} label={label} description={means} />
          ))}
        </Stack>
      </Radio.Group>
      {draft.kind === 'git' && <GitFields draft={draft} fault={fault} onChange={onChange} />}
      {draft.kind === 'directory' && (
        <TextInput
          label="Folder"
          description="Absolute path on the server"
          placeholder="/srv/factories/shop"
          spellCheck={false}
          autoComplete="off"
          required
          value={draft.path}
          onChange={(event) => onChange({ path: event.currentTarget.value })}
          error={fault('/source/path')}
        />
      )}
      {draft.kind !== 'dashboard' && (
        <TextInput
          label="Seconds between looks"
          description="Blank: as the server is configured"
          inputMode="numeric"
          autoComplete="off"
          value={draft.interval}
          onChange={(event) => onChange({ interval: event.currentTarget.value })}
          error={fault('/source/interval')}
        />
      )}
    </>
  );
}

const GIT = [
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
] as const;

function GitFields({ draft, fault, onChange }: SourceFieldsProps) {
  return (
    <>
      {GIT.map(({ member, pointer, ...input }) => (
        <TextInput
          key={member}
          {...input}
          value={draft[member]}
          onChange={(event) => onChange({ [member]: event.currentTarget.value })}
          error={fault(pointer)}
          spellCheck={false}
          autoComplete="off"
        />
      ))}
    </>
  );
}
