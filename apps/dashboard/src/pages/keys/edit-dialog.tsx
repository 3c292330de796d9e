/** Another name or another end of a key: only what was changed is sent. */
import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useFieldErrors } from '../../components/forms/field-errors.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { fromLocal, toLocal } from '../../components/forms/local-time.ts';
import type { ApiKey } from './queries.ts';

export interface KeyDialogProps {
  apiKey: ApiKey;
  onClose: () => void;
}

export function EditDialog({ apiKey, onClose }: KeyDialogProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(apiKey.name);
  const [hasEnd, setHasEnd] = useState(apiKey.expires_at !== null);
  const [endsAt, setEndsAt] = useState(toLocal(apiKey.expires_at));
  const save = useChange(
    (body: Api<'ApiKeyPatch'>) =>
      ask(api.PATCH('/api-keys/{api_key_id}', { params: { path: { api_key_id: apiKey.id } }, body })),
    (changed) => {
      announce(`The key ${changed.name} was changed`);
      onClose();
      void queries.invalidateQueries({ queryKey: ['api-keys'] });
    },
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, save.error);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const end = hasEnd ? endsAt : '';
    const body: Api<'ApiKeyPatch'> = {
      ...(name === apiKey.name ? {} : { name }),
      ...(hasEnd === (apiKey.expires_at !== null) && end === toLocal(apiKey.expires_at)
        ? {}
        : { expires_at: hasEnd ? (fromLocal(endsAt) ?? '') : null }),
    };
    if (Object.keys(body).length === 0) onClose();
    else save.start(body);
  };
  const fault = useFieldErrors(save.error, { '/name': name, '/expires_at': endsAt });
  return (
    <Dialog isBusy={save.isPending} onClose={onClose} closeOnClickOutside={false} title={`Edit ${apiKey.name}`}>
      <form ref={form} onSubmit={submit} noValidate aria-label="Change the key">
        <Stack>
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fault('/name')}
            required
            data-autofocus
            autoComplete="off"
          />
          <Checkbox label="It runs out" checked={hasEnd} onChange={(event) => setHasEnd(event.currentTarget.checked)} />
          {hasEnd && (
            <TextInput
              type="datetime-local"
              label="At"
              value={endsAt}
              onChange={(event) => setEndsAt(event.currentTarget.value)}
              error={fault('/expires_at')}
              required
            />
          )}
          {save.error !== null && (
            <ProblemAlert error={save.error} shown={hasEnd ? ['/name', '/expires_at'] : ['/name']} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
