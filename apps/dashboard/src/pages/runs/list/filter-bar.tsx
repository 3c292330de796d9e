/** The filters of the list of runs: the common ones visible, the others on demand, all held in the URL. */
import { Button, Collapse, Group, MultiSelect, Paper, Pill, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId } from 'react';
import { chosen, orderOnly, SORTS, withValues } from './filters.ts';
import { MoreFilters } from './more-filters.tsx';
import { TextFilter, type FilterProps } from './text-filter.tsx';
import { useFactories } from '../../../api/factories.ts';
import { withHiddenNamed } from '../../../components/text/hidden-characters.ts';
import { useAddress } from '../../../components/use-address.ts';
import { RUN_SOURCES, sourceText, STATES } from '../run.ts';

export function FilterBar({ factoryUid }: { factoryUid?: string }) {
  const [params, setParams] = useAddress();
  const [isMore, more] = useDisclosure();
  const id = useId();
  const sources = [...new Set([...RUN_SOURCES.map(([name]) => name as string), ...params.getAll('source')])];
  return (
    <Paper component="search" withBorder p="sm" mb="sm" aria-label="Runs">
      <Group gap="sm" align="flex-end">
        <TextFilter
          name="q"
          label="Search"
          placeholder="Words of the title, prompt or skill"
          params={params}
          setParams={setParams}
          style={{ flex: '3 1 12rem' }}
        />
        <ListOf name="state" label="State" data={[...STATES]} params={params} setParams={setParams} />
        <ListOf
          name="source"
          label="Source"
          data={sources.map((value) => ({ value, label: sourceText(value as Parameters<typeof sourceText>[0]) }))}
          params={params}
          setParams={setParams}
        />
        {factoryUid === undefined && <FactoryFilter params={params} setParams={setParams} />}
        <Order params={params} setParams={setParams} />
        <Button variant="default" onClick={more.toggle} aria-expanded={isMore} aria-controls={id}>
          {isMore ? 'Fewer filters' : 'More filters'}
        </Button>
      </Group>
      <Collapse expanded={isMore} id={id}>
        {isMore && <MoreFilters params={params} setParams={setParams} factoryUid={factoryUid} />}
      </Collapse>
      <Chosen params={params} setParams={setParams} />
    </Paper>
  );
}

interface ListOfProps extends FilterProps {
  name: string;
  label: string;
  data: (string | { value: string; label: string })[];
}

function ListOf({ name, label, data, params, setParams }: ListOfProps) {
  const value = params.getAll(name);
  return (
    <MultiSelect
      label={label}
      data={data}
      value={value}
      placeholder={value.length === 0 ? 'All' : undefined}
      searchable={name === 'factory_uid'}
      style={{ flex: '1 1 7.5rem', minWidth: 0 }}
      maw={260}
      onChange={(values) => setParams((before) => withValues(before, name, values))}
    />
  );
}

function FactoryFilter({ params, setParams }: FilterProps) {
  const { data: factories = [] } = useFactories();
  const known = new Set(factories.map(({ uid }) => uid));
  const data = [
    ...factories.map(({ uid, name }) => ({ value: uid, label: withHiddenNamed(name) })),
    ...params
      .getAll('factory_uid')
      .filter((uid) => !known.has(uid))
      .map((uid) => ({ value: uid, label: uid })),
  ];
  return <ListOf name="factory_uid" label="Factory" data={data} params={params} setParams={setParams} />;
}

function Order({ params, setParams }: FilterProps) {
  const value = `${params.get('sort_by') ?? 'created_at'} ${params.get('sort_order') ?? 'desc'}`;
  const choose = (order: string | null): void => {
    const [by = '', direction = ''] = (order ?? '').split(' ');
    setParams((before) => withValues(withValues(before, 'sort_by', [by]), 'sort_order', [direction]));
  };
  return (
    <Select
      label="Order"
      data={SORTS}
      value={value}
      onChange={choose}
      allowDeselect={false}
      style={{ flex: '1 1 8.5rem', minWidth: 0 }}
      maw={220}
    />
  );
}

function Chosen({ params, setParams }: FilterProps) {
  const { data: factories = [] } = useFactories();
  const all = chosen(params);
  if (all.length === 0) return null;
  const said = (name: string, value: string): string =>
    name === 'factory_uid'
      ? (factories.find(({ uid }) => uid === value)?.name ?? value)
      : name === 'source'
        ? sourceText(value as Parameters<typeof sourceText>[0])
        : value;
  return (
    <Group gap={6} mt="sm" role="group" aria-label="Chosen filters">
      {all.map(({ name, label, value, without }) => (
        <Pill
          key={`${name} ${value}`}
          size="md"
          withRemoveButton
          removeButtonProps={{ 'aria-label': `Remove ${label} ${value}`, 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => setParams(without)}
        >
          {label}: <bdi>{withHiddenNamed(said(name, value))}</bdi>
        </Pill>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={() => setParams(orderOnly(params))}>
        Clear all
      </Button>
    </Group>
  );
}
