/** The less common filters: values of the server are offered, any other can be typed. */
import { Button, Group, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { useAutomationsOf, useEnvironments, useModels, useSkills, useWebhooksOf, type Choice } from '../choices.ts';
import { TextFilter, type FilterProps } from './text-filter.tsx';
import { fromLocal, toLocal } from '../../../components/forms/local-time.ts';
import { LABELS, metadataOf, withValues, type SingleFilter } from './filters.ts';

const ARTIFACTS: Choice[] = [
  { value: 'FILE', label: 'File' },
  { value: 'PLAN', label: 'Plan' },
  { value: 'PULL_REQUEST', label: 'Pull request' },
];
const WITHOUT_ENVIRONMENT: Choice = { value: 'empty-environment', label: 'None' };
const WRITTEN = ['name', 'delivery_id', 'schedule_id', 'creator', 'executor', 'ancestor_run_id'] as const;
const TIMES = ['created_after', 'created_before', 'updated_after'] as const;
const KEY = /^[A-Za-z0-9._-]{1,64}$/;

interface MoreFiltersProps extends FilterProps {
  factoryUid?: string;
}

export function MoreFilters({ factoryUid, ...props }: MoreFiltersProps) {
  const factories = factoryUid === undefined ? props.params.getAll('factory_uid') : [factoryUid];
  const own = factories.length === 1 ? factories[0] : undefined;
  const [models, environments, skills] = [useModels(), useEnvironments(own), useSkills(own)];
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 4 }} mt="sm" spacing="sm">
        {own === undefined ? <Anywhere {...props} /> : <OfFactory uid={own} {...props} />}
        <OneOf name="model_id" data={models} {...props} />
        <OneOf name="environment_id" data={[WITHOUT_ENVIRONMENT, ...environments]} {...props} />
        <OneOf name="skill" data={skills} {...props} />
        <OneOf name="artifact_type" data={ARTIFACTS} {...props} />
        {WRITTEN.map((name) => (
          <TextFilter
            key={name}
            name={name}
            label={LABELS[name]}
            placeholder={name === 'name' ? undefined : 'ID'}
            {...props}
          />
        ))}
        {TIMES.map((name) => (
          <TimeFilter key={name} name={name} {...props} />
        ))}
      </SimpleGrid>
      <MetadataFilter {...props} />
    </>
  );
}

/** Automations and webhooks are many; they are offered where one factory is looked at. */
function Anywhere(props: FilterProps) {
  return (
    <>
      <TextFilter name="automation_id" label={LABELS.automation_id} placeholder="ID" {...props} />
      <TextFilter name="webhook_uid" label={LABELS.webhook_uid} placeholder="UID" {...props} />
    </>
  );
}

function OfFactory({ uid, ...props }: FilterProps & { uid: string }) {
  const [automations, webhooks] = [useAutomationsOf(uid), useWebhooksOf(uid)];
  return (
    <>
      <OneOf name="automation_id" data={automations} {...props} />
      <OneOf name="webhook_uid" data={webhooks} {...props} />
    </>
  );
}

function OneOf({ name, data, params, setParams }: FilterProps & { name: SingleFilter; data: Choice[] }) {
  const value = params.get(name);
  const all =
    value === null || data.some((choice) => choice.value === value) ? data : [...data, { value, label: value }];
  return (
    <Select
      label={LABELS[name]}
      data={all}
      value={value}
      placeholder="All"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Any ${LABELS[name]}` }}
      onChange={(chosen) => setParams((before) => withValues(before, name, [chosen ?? '']))}
    />
  );
}

/** A time in the zone of whoever looks; in the address it is UTC. */
function TimeFilter({ name, params, setParams }: FilterProps & { name: SingleFilter }) {
  const choose = (local: string): void => {
    setParams((before) => withValues(before, name, [fromLocal(local) ?? '']), { replace: params.has(name) });
  };
  return (
    <TextInput
      type="datetime-local"
      label={LABELS[name]}
      value={toLocal(params.get(name))}
      onChange={(event) => choose(event.currentTarget.value)}
    />
  );
}

function MetadataFilter({ params, setParams }: FilterProps) {
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const count = metadataOf(params).length;
  const add = (event: SyntheticEvent): void => {
    event.preventDefault();
    setParams((before) => withValues(before, `metadata[${key}]`, [value]));
    setKey('');
    setValue('');
  };
  const isWrong = key !== '' && !KEY.test(key);
  return (
    <form onSubmit={add}>
      <Group mt="sm" align="flex-end" gap="sm">
        <TextInput
          label="Metadata key"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value.trim())}
          error={isWrong ? '1 to 64 of A–Z a–z 0–9 . _ -' : undefined}
        />
        <TextInput
          label="Metadata value"
          value={value}
          maxLength={256}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={key === '' || value === '' || isWrong || count >= 5}>
          Add
        </Button>
      </Group>
    </form>
  );
}
