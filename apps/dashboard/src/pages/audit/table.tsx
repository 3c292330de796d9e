/** The entries of the audit trail: only those in sight are in the page. */
import { Anchor, Table, Text } from '@mantine/core';
import type { ReactNode, RefObject } from 'react';
import { Link, useSearchParams } from 'react-router';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { LongTable, useLongRows, type RowPlace } from '../../components/lists/long-table.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactoryName } from '../../api/factories.ts';
import { Subject } from './subject.tsx';
import { detailsText, useKeyNames, type AuditEntry, type useTrail } from './trail.ts';

/** Until a row is measured. */
const ROW_PX = 60;
const COLUMNS: readonly (readonly [name: string, width?: number])[] = [
  ['When', 130],
  ['Who', 130],
  ['What', 140],
  ['To what', 210],
  ['Details'],
  ['From where', 110],
];

export function AuditTable({
  trail,
  box,
}: {
  trail: ReturnType<typeof useTrail>;
  box: RefObject<HTMLDivElement | null>;
}) {
  const rows = trail.data?.pages.flatMap((page) => page.entries) ?? [];
  const list = useLongRows({ box, rows, keyOf: ({ id }) => id, rowPx: ROW_PX, pages: trail });
  const head = (
    <Table.Tr>
      {COLUMNS.map(([name, width]) => (
        <Table.Th key={name} scope="col" w={width}>
          {name}
        </Table.Th>
      ))}
    </Table.Tr>
  );
  return (
    <LongTable
      box={box}
      pages={trail}
      list={list}
      label="Changes"
      noun={['change', 'changes']}
      head={head}
      minWidth={980}
      isMeasured
    >
      {(entry, place) => <Entry key={entry.id} entry={entry} place={place} />}
    </LongTable>
  );
}

function Entry({ entry, place }: { entry: AuditEntry; place: RowPlace }) {
  const factory = useFactoryName(entry.factory_uid ?? undefined) ?? '';
  const keyNames = useKeyNames();
  return (
    <Table.Tr {...place} style={{ verticalAlign: 'top' }}>
      <Table.Td>
        <Time at={entry.at} />
      </Table.Td>
      <Table.Td>
        <Narrow name="actor" value={entry.principal.uid}>
          <UntrustedText>{entry.principal.display_name}</UntrustedText>
        </Narrow>
      </Table.Td>
      <Table.Td>
        <Narrow name="action" value={entry.action}>
          <span className="mono">{entry.action}</span>
        </Narrow>
      </Table.Td>
      <Table.Td>
        <Subject entry={entry} keyName={keyNames.get(entry.subject)} />
        <Narrow name="subject" value={entry.subject}>
          <span className="mono">
            <UntrustedText>{entry.subject}</UntrustedText>
          </span>
        </Narrow>
        {entry.factory_uid !== null && entry.factory_uid !== entry.subject && (
          <Text size="xs" c="dimmed">
            in <UntrustedText>{factory}</UntrustedText>
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" component="div">
          <UntrustedText>{detailsText(entry.details)}</UntrustedText>
        </Text>
        {entry.key_id !== null && (
          <Text size="xs" c="dimmed">
            with the key <KeyName id={entry.key_id} name={keyNames.get(entry.key_id)} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" className="mono foreign">
          {entry.address ?? '–'}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}

function KeyName({ id, name }: { id: string; name: string | undefined }) {
  return name === undefined ? (
    <span className="mono">{id}</span>
  ) : (
    <span title={id}>
      <UntrustedText>{name}</UntrustedText>
    </span>
  );
}

/** A value that the list can be limited to. */
function Narrow({
  name,
  value,
  children,
}: {
  name: 'actor' | 'action' | 'subject';
  value: string;
  children: ReactNode;
}) {
  const [params] = useSearchParams();
  const next = new URLSearchParams(params);
  next.set(name, value);
  return (
    <Anchor component={Link} to={`?${next}`} size="sm" c="inherit" title="Show only these">
      {children}
    </Anchor>
  );
}
