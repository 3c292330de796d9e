/** Creating a secret, with a value or without. */
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { problemOf } from '../../api/problems.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { isThere, putSecret, secretsChanged, type Owner } from './queries.ts';
import { GrantsFields, type Grants } from './grants-fields.tsx';
import { NOTHING_TYPED, typedValue, ValueField } from './value-field.tsx';

const SHOWN = ['name', '/value', '/grants/uses', '/grants/factories', '/grants/runs', '/grants/hosts'];
const BLANK_VALUE =
  'Leave it blank to create the secret now and set it later: until then nobody authenticates with it. It is ' +
  'never shown again.';
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;

export function CreateDialog({ owner, onClose }: { owner: Owner; onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [nameFault, setNameFault] = useState<string>();
  const [value, setValue] = useState(NOTHING_TYPED);
  const [grants, setGrants] = useState<Grants>({ factories: owner === undefined ? '*' : [owner], uses: ['webhook'] });
  // The value is not among what the change is told, which is kept while it is under way.
  const create = useChange(
    async (wanted: string) => {
      if (await isThere(owner, wanted)) return undefined;
      return putSecret(owner, wanted, { value: typedValue(value), grants });
    },
    (made) => {
      if (made === undefined)
        return setNameFault('There is a secret of this name already: close this and rotate that one.');
      setValue(NOTHING_TYPED);
      announce(
        made.set ? `The secret ${made.name} was created` : `The secret ${made.name} was created, without a value`,
      );
      onClose();
      void secretsChanged(queries);
    },
  );
  const form = useRef<HTMLFormElement>(null);
  const fault = (pointer: string): string | undefined => problemOf(create.error)?.fault(pointer);
  useFocusOnError(form, create.error ?? nameFault);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!NAME.test(name)) return setNameFault('A letter first, then letters, digits, _ and -, at most 128 in all.');
    setNameFault(undefined);
    create.start(name);
  };
  return (
    <Dialog
      isBusy={create.isPending}
      onClose={onClose}
      closeOnClickOutside={false}
      title={owner === undefined ? 'Create a team secret' : 'Create a secret of the factory'}
      size="lg"
    >
      <form ref={form} onSubmit={submit} noValidate autoComplete="off" aria-label="Create a secret">
        <Stack>
          <TextInput
            label="Name"
            description="Definitions refer to it by this name; it cannot be changed."
            required
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={nameFault ?? fault('name')}
          />
          <ValueField
            label="Value"
            description={BLANK_VALUE}
            value={value}
            onChange={setValue}
            error={fault('/value')}
          />
          <GrantsFields owner={owner} value={grants} onChange={setGrants} fault={fault} />
          {create.error !== null && <ProblemAlert error={create.error} shown={SHOWN} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={create.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              {typedValue(value) === undefined ? 'Create without a value' : 'Create secret'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
