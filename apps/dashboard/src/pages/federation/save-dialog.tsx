/** Making a federated credential, and changing one: only what was changed is sent. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { api, ask } from '../../api/client.ts';
import { announce } from '../../components/feedback/announcements.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useFieldErrors } from '../../components/forms/field-errors.ts';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { blankDraft, changeOf, creationOf, draftOf, FIELDS, valuesOf, type Draft } from './draft.ts';
import { CredentialFields } from './fields.tsx';
import { FEDERATED_CREDENTIALS, type FederatedCredential } from './queries.ts';

interface SaveDialogProps {
  /** Undefined: a new one. */
  credential?: FederatedCredential;
  onClose: () => void;
}

export function SaveDialog({ credential, onClose }: SaveDialogProps) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(() => (credential === undefined ? blankDraft() : draftOf(credential)));
  const save = useChange(
    (wanted: Draft, key) => saved(wanted, credential, key),
    ({ name }) => {
      announce(`The federated credential ${name} was ${credential === undefined ? 'made' : 'changed'}`);
      onClose();
      void queries.invalidateQueries({ queryKey: FEDERATED_CREDENTIALS });
    },
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, save.error);
  const fault = useFieldErrors(save.error, valuesOf(draft));
  const change = credential === undefined ? undefined : Object.keys(changeOf(draft, credential));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (change?.length === 0) onClose();
    else save.start(draft);
  };
  const title = credential === undefined ? 'Trust an issuer' : `Edit ${credential.name}`;
  return (
    <Dialog isBusy={save.isPending} onClose={onClose} closeOnClickOutside={false} title={title} size="lg">
      <form ref={form} onSubmit={submit} noValidate aria-label={title}>
        <Stack>
          <CredentialFields
            draft={draft}
            isNew={credential === undefined}
            fault={fault}
            onChange={(more) => setDraft((before) => ({ ...before, ...more }))}
          />
          {change?.some((member) => member !== 'name') === true && (
            <Alert color="orange">Keys that were exchanged by it before end with this change.</Alert>
          )}
          {save.error !== null && <ProblemAlert error={save.error} shown={FIELDS} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={save.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {credential === undefined ? 'Make federated credential' : 'Save'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function saved(draft: Draft, before: FederatedCredential | undefined, key: string): Promise<FederatedCredential> {
  if (before === undefined)
    return ask(
      api.POST('/federated-credentials', {
        params: { header: { 'Idempotency-Key': key } },
        body: creationOf(draft),
      }),
    );
  return ask(
    api.PATCH('/federated-credentials/{federated_credential_id}', {
      params: { path: { federated_credential_id: before.id } },
      body: changeOf(draft, before),
    }),
  );
}
