/** Changing what a factory is called and follows. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import type { Api } from '../../api/client.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useFieldErrors } from '../../components/forms/field-errors.ts';
import { announce } from '../../components/feedback/announcements.ts';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { ChangeRefused } from './change-refused.tsx';
import { changeFactory, factoryChanged } from './queries.ts';
import { draftOf, SOURCE_FIELDS, sourceOf, sourceValues } from './source-draft.ts';
import { SourceFields } from './source-fields.tsx';

export interface FactoryDialogProps {
  factory: Api<'Factory'>;
  onClose: () => void;
}

export function EditFactory({ factory, onClose }: FactoryDialogProps) {
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [seen, setSeen] = useState(factory);
  const [name, setName] = useState(factory.name);
  const [source, setSource] = useState(() => draftOf(factory.source));
  const change = useChange(
    (changes: Api<'FactoryPatch'>) => changeFactory(factory.uid, seen, changes),
    (now) => {
      announce(`The factory ${now.name} was changed`);
      void factoryChanged(queries, factory.uid);
      onClose();
    },
  );
  useFocusOnError(form, change.error);
  const fault = useFieldErrors(change.error, { '/name': name, ...sourceValues(source) });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const changes = changesOf(seen, name.trim(), sourceOf(source));
    if (Object.keys(changes).length === 0) onClose();
    else change.start(changes);
  };
  const goOn = (now: Api<'Factory'>): void => {
    setSeen(now);
    setName(now.name);
    setSource(draftOf(now.source));
    change.reset();
  };
  return (
    <Dialog isBusy={change.isPending} onClose={onClose} title={`Edit ${factory.name}`} size="lg">
      <form ref={form} onSubmit={submit} noValidate aria-label="Factory">
        <Stack>
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fault('/name')}
            autoComplete="off"
            data-autofocus
          />
          <SourceFields
            draft={source}
            fault={fault}
            onChange={(part) => setSource((before) => ({ ...before, ...part }))}
          />
          <Text size="sm" c="dimmed">
            Identifiers and ingress URLs stay, whatever the source.
          </Text>
          <ChangeRefused
            error={change.error}
            shown={['/name', '/source/kind', ...SOURCE_FIELDS]}
            seen={seen}
            onGoOn={goOn}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={change.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function changesOf(seen: Api<'Factory'>, name: string, source: Api<'FactorySource'>): Api<'FactoryPatch'> {
  const isSameSource = JSON.stringify(source) === JSON.stringify(sourceOf(draftOf(seen.source)));
  return { ...(name === seen.name ? {} : { name }), ...(isSameSource ? {} : { source }) };
}
