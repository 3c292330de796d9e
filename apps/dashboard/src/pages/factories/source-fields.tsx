/** The fields of a factory's source. */
import { Radio, Stack, TextInput } from '@mantine/core';
import type { SourceDraft } from './source-draft.ts';
import { SOURCE_KINDS, sourceKindOf } from '../../api/source-kinds.ts';

interface SourceFieldsProps {
  draft: SourceDraft;
  /** What is wrong with a member, by its JSON pointer. */
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<SourceDraft>) => void;
}

export function SourceFields({ draft, fault, onChange }: SourceFieldsProps) {
  const { fields, isPolled } = sourceKindOf(draft);
  return (
    <>
      <Radio.Group
        label="Where its definitions come from"
        value={draft.kind}
        onChange={(kind) => onChange({ kind })}
        error={fault('/source/kind')}
      >
        <Stack gap="xs" mt="xs">
          {SOURCE_KINDS.map(({ kind, label, means }) => (
            <Radio key={kind} value={kind} label={label} description={means} />
          ))}
        </Stack>
      </Radio.Group>
      {fields.map(({ member, pointer, ...input }) => (
        <TextInput
          key={pointer}
          {...input}
          value={draft[member]}
          onChange={(event) => onChange({ [member]: event.currentTarget.value })}
          error={fault(pointer)}
          spellCheck={false}
          autoComplete="off"
        />
      ))}
      {isPolled && (
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
