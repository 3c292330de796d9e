/** For what a secret may be used, and by which factories. */
import { Checkbox, MultiSelect, Radio, Stack, TagsInput } from '@mantine/core';
import { useFactories } from '../../api/factories.ts';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import type { Owner, Secret, Use } from './queries.ts';

/** What a dialog holds: null of hosts is the first one that it is sent to, which what is read does not say. */
type Hosts = NonNullable<Secret['grants']['hosts']> | null;
export type Grants = Omit<Secret['grants'], 'hosts'> & { hosts?: Hosts };

export const USES: readonly { use: Use; label: string; means: string }[] = [
  { use: 'webhook', label: 'Webhooks', means: 'Authenticates deliveries.' },
  {
    use: 'run',
    label: 'Runs',
    means: 'An environment variable of runs. Its name must be written like one: A–Z, 0–9 and _.',
  },
  { use: 'git', label: 'Git', means: 'Reads the repository of a factory.' },
  { use: 'forge', label: 'Code host', means: 'Verifies what the host of the repository sends, and answers it.' },
];

interface GrantsFieldsProps {
  owner: Owner;
  value: Grants;
  onChange: (grants: Grants) => void;
  fault: (pointer: string) => string | undefined;
}

export function GrantsFields({ owner, value, onChange, fault }: GrantsFieldsProps) {
  const change = (part: Partial<Grants>): void => onChange({ ...value, ...part });
  return (
    <>
      <Checkbox.Group
        label="What it may be used for"
        description={value.uses.length === 0 ? 'Nothing: to everybody it looks as if it did not exist.' : undefined}
        value={value.uses}
        onChange={(uses) => change({ uses })}
        error={fault('/grants/uses')}
      >
        <Stack gap="xs" mt="xs">
          {USES.map(({ use, label, means }) => (
            <Checkbox key={use} value={use} label={label} description={means} />
          ))}
        </Stack>
      </Checkbox.Group>
      {value.uses.includes('run') && (
        <RunsField
          value={value.runs ?? 'files'}
          onChange={(runs) => change({ runs })}
          error={faultBelow(fault, '/grants/runs', value.runs)}
        />
      )}
      {(value.uses.includes('git') || value.hosts !== undefined) && (
        <HostsField
          value={value.hosts ?? null}
          onChange={(hosts) => change({ hosts })}
          error={faultBelow(fault, '/grants/hosts', value.hosts)}
        />
      )}
      {owner === undefined && (
        <FactoriesField
          value={value.factories}
          onChange={(factories) => change({ factories })}
          error={fault('/grants/factories')}
        />
      )}
    </>
  );
}

function HostsField({
  value,
  onChange,
  error,
}: {
  value: Hosts;
  onChange: (hosts: Hosts) => void;
  error: string | undefined;
}) {
  return (
    <>
      <Radio.Group
        label="Where its value may go"
        value={value === null ? 'first' : value === '*' ? '*' : 'some'}
        onChange={(which) => onChange(which === 'first' ? null : which === '*' ? '*' : [])}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="first" label="To the host that it is sent to next, and no other" />
          <Radio value="some" label="To these hosts" />
          <Radio
            value="*"
            label="To any host"
            description="Whoever may point a source elsewhere can have it sent there."
          />
        </Stack>
      </Radio.Group>
      {value !== null && value !== '*' && (
        <TagsInput
          label="Hosts"
          description="example.com, *.example.com or example.com:8443"
          value={value}
          onChange={onChange}
          error={error}
          placeholder={value.length === 0 ? 'None' : undefined}
        />
      )}
    </>
  );
}

/** The fault of a list, or of its first entry that has one. */
function faultBelow(fault: GrantsFieldsProps['fault'], pointer: string, list: unknown): string | undefined {
  const entries = Array.isArray(list) ? list.map((_, at) => fault(`${pointer}/${at}`)) : [];
  return fault(pointer) ?? entries.find((found) => found !== undefined);
}

function RunsField({
  value,
  onChange,
  error,
}: {
  value: NonNullable<Grants['runs']>;
  onChange: (runs: NonNullable<Grants['runs']>) => void;
  error: string | undefined;
}) {
  return (
    <>
      <Radio.Group
        label="Which runs may have it"
        value={typeof value === 'string' ? value : 'some'}
        onChange={(which) => onChange(which === 'files' || which === '*' ? which : [])}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="files"
            label="Those for which a file names it"
            description="Their automation, their environment, or the factory’s defaults."
          />
          <Radio value="some" label="Of these, only runs of some automations or environments" />
          <Radio
            value="*"
            label="Those whose request names it, too"
            description="Whoever may start runs can read it then."
          />
        </Stack>
      </Radio.Group>
      {typeof value !== 'string' && (
        <TagsInput
          label="Automations and environments"
          description="automation/<slug> or environment/<slug>"
          value={value}
          onChange={onChange}
          error={error}
          placeholder={value.length === 0 ? 'None' : undefined}
        />
      )}
    </>
  );
}

function FactoriesField({
  value,
  onChange,
  error,
}: {
  value: Grants['factories'];
  onChange: (factories: Grants['factories']) => void;
  error: string | undefined;
}) {
  const { data: factories = [] } = useFactories();
  const listed = value === '*' ? [] : value;
  const unknown = listed.filter((uid) => !factories.some((factory) => factory.uid === uid));
  const data = [
    ...factories.map(({ uid, name }) => ({ value: uid, label: withHiddenNamed(name) })),
    ...unknown.map((uid) => ({ value: uid, label: uid })),
  ];
  return (
    <>
      <Radio.Group
        label="Which factories may use it"
        value={value === '*' ? 'all' : 'some'}
        onChange={(which) => onChange(which === 'all' ? '*' : [])}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="all" label="All, later ones too" />
          <Radio value="some" label="Only these" />
        </Stack>
      </Radio.Group>
      {value !== '*' && (
        <MultiSelect
          label="Factories"
          data={data}
          value={listed}
          onChange={onChange}
          searchable
          clearable
          error={error}
          placeholder={listed.length === 0 ? 'None' : undefined}
        />
      )}
    </>
  );
}
