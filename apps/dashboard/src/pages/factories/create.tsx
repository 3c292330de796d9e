/** Creating a factory. */
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { useNavigate } from 'react-router';
import { api, ask, type Api } from '../../api/client.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useFieldErrors } from '../../components/forms/field-errors.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { EMPTY_SOURCE, SOURCE_FIELDS, sourceOf, sourceValues, type SourceDraft } from './source-draft.ts';
import { SourceFields } from './source-fields.tsx';

export function NewFactory({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const go = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const [{ slug, name }, setNames] = useState({ slug: '', name: '' });
  const [source, setSource] = useState<SourceDraft>(EMPTY_SOURCE);
  const create = useChange(
    (body: Api<'FactoryCreate'>, key) =>
      ask(api.POST('/factory', { params: { header: { 'Idempotency-Key': key } }, body })),
    (factory) => {
      announce(`The factory ${factory.name} was created`);
      queries.setQueryData(['factory', factory.uid], factory);
      void queries.invalidateQueries({ queryKey: ['factories'] });
      void go(`/factories/${factory.uid}/${factory.definitions_managed ? 'sync' : 'webhooks'}`);
    },
  );
  useFocusOnError(form, create.error);
  const fault = useFieldErrors(create.error, { '/slug': slug, '/name': name, ...sourceValues(source) });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    create.start({ slug: slug.trim(), ...(name.trim() === '' ? {} : { name: name.trim() }), source: sourceOf(source) });
  };
  return (
    <Dialog isBusy={create.isPending} onClose={onClose} title="Create factory" size="lg">
      <form ref={form} onSubmit={submit} noValidate aria-label="Create factory">
        <Stack>
          <TextInput
            label="Slug"
            description="Permanent: a-z, 0-9 and -. All identifiers and ingress URLs of the factory follow from it."
            required
            data-autofocus
            spellCheck={false}
            autoComplete="off"
            value={slug}
            onChange={(event) => setNames({ name, slug: event.currentTarget.value })}
            error={fault('/slug')}
          />
          <TextInput
            label="Name"
            description="For people. Blank: the slug"
            value={name}
            onChange={(event) => setNames({ slug, name: event.currentTarget.value })}
            error={fault('/name')}
            autoComplete="off"
          />
          <SourceFields
            draft={source}
            fault={fault}
            onChange={(change) => setSource((before) => ({ ...before, ...change }))}
          />
          {create.error !== null && (
            <ProblemAlert error={create.error} shown={['/slug', '/name', '/source/kind', ...SOURCE_FIELDS]} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={create.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create factory
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
