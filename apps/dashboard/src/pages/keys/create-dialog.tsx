/** Creating an API key: asked for once, shown once. */
import { Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useFieldErrors } from '../../components/forms/field-errors.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { useChange } from '../../components/forms/use-change.ts';
import type { ApiKey } from './queries.ts';
import { KeyFields } from './fields.tsx';
import { BLANK, FIELDS, requestOf, valuesOf } from './draft.ts';
import { CreatedKey } from './created.tsx';

export function CreateDialog({ known, onClose }: { known: readonly ApiKey[]; onClose: () => void }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(BLANK);
  const [made, setMade] = useState<Api<'ApiKeyCreated'>>();
  const create = useChange(
    (body: Api<'ApiKeyCreate'>, key) =>
      ask(api.POST('/api-keys', { params: { header: { 'Idempotency-Key': key } }, body })),
    (done) => {
      setMade(done);
      void queries.invalidateQueries({ queryKey: ['api-keys'] });
    },
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, create.error);
  const fault = useFieldErrors(create.error, valuesOf(draft));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    create.start(requestOf(draft));
  };
  if (made !== undefined)
    return (
      <Dialog
        onClose={onClose}
        closeOnClickOutside={false}
        closeOnEscape={false}
        title="The API key was created"
        size="lg"
      >
        <CreatedKey created={made} onClose={onClose} />
      </Dialog>
    );
  // While it is under way the answer may hold the only copy of the key: nothing closes the dialog then.
  return (
    <Dialog isBusy={create.isPending} onClose={onClose} closeOnClickOutside={false} title="Create API key" size="lg">
      <form ref={form} onSubmit={submit} noValidate aria-label="Create API key">
        <Stack>
          <KeyFields
            draft={draft}
            known={known}
            fault={fault}
            onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
          />
          {create.error !== null && <ProblemAlert error={create.error} shown={FIELDS} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={create.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create API key
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
