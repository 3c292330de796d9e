/** What is applied in a factory, and by which file and revision. */
import { Anchor, Badge, Button, Group, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { RevisionText } from '../../components/text/revision-text.tsx';

type Item = Api<'InventoryItem'>;

const KINDS = ['webhook', 'automation', 'environment', 'skill'] as const;
const PAGES: Readonly<Partial<Record<Item['kind'], string>>> = { webhook: 'webhooks', automation: 'automations' };
const STATES: Readonly<Record<Item['state'], { color: string; means: string }>> = {
  applied: { color: 'teal', means: 'It serves as the files say' },
  disabled: { color: 'gray', means: 'Its own definition says so' },
  held: { color: 'orange', means: 'Its file has an error, or its deletion waits: it serves as it was applied before' },
};
const SHOWN_AT_FIRST = 100;

export function Inventory({
  factoryUid,
  items,
  managed,
}: {
  factoryUid: string;
  items: readonly Item[];
  managed: boolean;
}) {
  const [{ kind, text }, setWanted] = useState({ kind: '', text: '' });
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  if (items.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Nothing is applied.
      </Text>
    );
  const needle = text.trim().toLowerCase();
  const found = items.filter(
    (item) =>
      (kind === '' || item.kind === kind) &&
      [item.slug, item.file ?? '', item.uid].some((one) => one.toLowerCase().includes(needle)),
  );
  return (
    <Stack gap="sm">
      <Group align="flex-end">
        <TextInput
          label="Find by name or file"
          type="search"
          value={text}
          onChange={(event) => setWanted({ kind, text: event.currentTarget.value })}
          autoComplete="off"
        />
        <NativeSelect
          label="Kind"
          value={kind}
          onChange={(event) => setWanted({ text, kind: event.currentTarget.value })}
          data={[{ value: '', label: 'all' }, ...KINDS]}
        />
      </Group>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="What is applied">
        <Table miw={640} verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              {['Name', 'Kind', 'State', ...(managed ? ['File'] : []), 'Revision'].map((head) => (
                <Table.Th key={head} scope="col">
                  {head}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.slice(0, shown).map((item) => (
              <Row key={item.uid} factoryUid={factoryUid} item={item} managed={managed} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <Text size="sm" c="dimmed" role="status">
        {found.length === items.length ? `${items.length} in all` : `${found.length} of ${items.length}`}
      </Text>
      {found.length > shown && (
        <Button variant="default" size="xs" w="max-content" onClick={() => setShown(shown + 5 * SHOWN_AT_FIRST)}>
          Show more
        </Button>
      )}
    </Stack>
  );
}

function Row({
  factoryUid,
  item: { kind, slug, uid, file, blob, revision, state },
  managed,
}: {
  factoryUid: string;
  item: Item;
  managed: boolean;
}) {
  const page = PAGES[kind];
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {page === undefined ? (
          <UntrustedText>{slug}</UntrustedText>
        ) : (
          <Anchor component={Link} to={`/factories/${factoryUid}/${page}/${uid}`} size="sm">
            <UntrustedText>{slug}</UntrustedText>
          </Anchor>
        )}
      </Table.Th>
      <Table.Td>{kind}</Table.Td>
      <Table.Td>
        <Badge color={STATES[state].color} title={STATES[state].means} miw="max-content">
          {state}
        </Badge>
      </Table.Td>
      {managed && (
        <Table.Td maw={280} className="mono" title={blob === null ? undefined : `blob ${blob}`}>
          {file !== null && <UntrustedText>{file}</UntrustedText>}
        </Table.Td>
      )}
      <Table.Td maw={220}>
        <RevisionText factoryUid={factoryUid} revision={revision} />
      </Table.Td>
    </Table.Tr>
  );
}
