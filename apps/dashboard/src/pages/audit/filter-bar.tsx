/** The filters of the audit trail; they stand in the address. */
import { Autocomplete, Button, Group, Paper, Select, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { useSearchParams } from 'react-router';
import { useFactories } from '../../api/factories.ts';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { fromLocal, toLocal } from '../../components/forms/local-time.ts';
import { ACTIONS, FILTERS, filterOf, type AuditFilter } from './trail.ts';

/** Follows the address: what is typed there and not yet searched for is forgotten with it. */
export function FilterBar() {
  const address = useSearchParams()[0].toString();
  return <Fields key={address} />;
}

/** Taken over when somebody says so: half a word would match nothing. */
function Fields() {
  const [params, setParams] = useSearchParams();
  const [typed, setTyped] = useState<AuditFilter>(filterOf(params));
  const { data: factories = [] } = useFactories();
  const set = (change: AuditFilter): void => setTyped((before) => ({ ...before, ...change }));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setParams(
      FILTERS.flatMap((name): [string, string][] =>
        (typed[name] ?? '').trim() === '' ? [] : [[name, (typed[name] ?? '').trim()]],
      ),
    );
  };
  const factory = typed.factory_uid ?? '';
  const data = [
    ...factories.map(({ uid, name }) => ({ value: uid, label: withHiddenNamed(name) })),
    ...(factory === '' || factories.some(({ uid }) => uid === factory) ? [] : [{ value: factory, label: factory }]),
  ];
  return (
    <Paper component="search" withBorder p="sm" mb="sm" aria-label="Audit trail">
      <form onSubmit={submit}>
        <Group gap="sm" align="flex-end">
          <Autocomplete
            label="Action"
            placeholder="Any"
            data={ACTIONS}
            value={typed.action ?? ''}
            onChange={(action) => set({ action })}
            maxLength={100}
            style={{ flex: '1 1 11rem' }}
          />
          <TextInput
            label="Who (UID)"
            placeholder="Anybody"
            value={typed.actor ?? ''}
            onChange={(event) => set({ actor: event.currentTarget.value })}
            maxLength={200}
            style={{ flex: '1 1 11rem' }}
          />
          <TextInput
            label="What it was done to"
            placeholder="An identifier, or a secret’s name"
            value={typed.subject ?? ''}
            onChange={(event) => set({ subject: event.currentTarget.value })}
            maxLength={200}
            style={{ flex: '1 1 13rem' }}
          />
          <Select
            label="Factory"
            placeholder="Any"
            data={data}
            value={factory === '' ? null : factory}
            onChange={(uid) => set({ factory_uid: uid ?? '' })}
            clearable
            searchable
            clearButtonProps={{ 'aria-label': 'Any factory' }}
            style={{ flex: '1 1 11rem' }}
          />
          <Moment label="Since" value={typed.since} onChange={(since) => set({ since })} />
          <Moment label="Until" value={typed.until} onChange={(until) => set({ until })} />
          <Button type="submit">Search</Button>
          {Object.keys(filterOf(params)).length > 0 && (
            <Button variant="default" onClick={() => setParams({})}>
              Clear all
            </Button>
          )}
        </Group>
      </form>
    </Paper>
  );
}

function Moment({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (at: string) => void;
}) {
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={toLocal(value ?? null)}
      onChange={(event) => onChange(fromLocal(event.currentTarget.value) ?? '')}
      style={{ flex: '1 1 11rem' }}
    />
  );
}
