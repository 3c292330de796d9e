/** All factories that one may see: where they come from, and how they stand. */
import { Anchor, Badge, Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure, useIntersection } from '@mantine/hooks';
import { lazy, Suspense, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { Api } from '../../api/client.ts';
import { useMay, useSession } from '../../api/session.tsx';
import { LIVE_MS } from '../../app/queries.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { countOf } from '../../components/text/count.ts';
import { Empty } from '../../components/lists/empty.tsx';
import { ListedName } from '../../components/text/listed-name.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ShowMore } from '../../components/lists/show-more.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactoryPages, useStatus } from './queries.ts';
import { SourceText } from './source-text.tsx';
import { FactoryStateBadge, problemsOf } from './state.tsx';

const NewFactory = lazy(async () => ({ default: (await import('./create.tsx')).NewFactory }));

export function FactoryListPage() {
  const [params] = useSearchParams();
  const search = params.get('search') ?? '';
  const isAdmin = useMay('admin');
  const [isCreating, creating] = useDisclosure();
  const query = useFactoryPages(search);
  return (
    <>
      <PageTitle actions={isAdmin && <Button onClick={creating.open}>Create factory</Button>}>Factories</PageTitle>
      <Stack>
        <Search />
        <QueryView query={query}>
          {({ pages }) => {
            const factories = pages.flatMap((page) => page.factories);
            return factories.length === 0 ? (
              <NoFactories search={search} />
            ) : (
              <Factories factories={factories} hasMore={query.hasNextPage} />
            );
          }}
        </QueryView>
        <ShowMore pages={query} what="factories" />
      </Stack>
      {isCreating && (
        <Suspense>
          <NewFactory onClose={creating.close} />
        </Suspense>
      )}
    </>
  );
}

function Search() {
  const [params, setParams] = useSearchParams();
  const [text, setText] = useState(params.get('search') ?? '');
  const find = useDebouncedCallback(
    (wanted: string) => setParams(wanted === '' ? {} : { search: wanted }, { replace: true }),
    250,
  );
  const type = (wanted: string): void => {
    setText(wanted);
    find(wanted.trim());
  };
  return (
    <TextInput
      label="Find by name"
      type="search"
      value={text}
      onChange={(event) => type(event.currentTarget.value)}
      maxLength={200}
      maw={320}
      autoComplete="off"
    />
  );
}

function NoFactories({ search }: { search: string }) {
  const isAdmin = useMay('admin');
  const { key } = useSession();
  if (search !== '') return <Empty title="No factory is called like that">Slug and name are searched.</Empty>;
  if (key.factories !== null)
    return (
      <Empty title="There is nothing that this key may see">
        It is limited to factories that do not exist, or not any more.
      </Empty>
    );
  return (
    <Empty title="No factories yet">
      A factory is a group of webhooks and automations: the files of a git repository, or managed here.{' '}
      {isAdmin ? 'Create the first one with “Create factory”.' : 'An admin can create one.'}
    </Empty>
  );
}

function Factories({ factories, hasMore }: { factories: readonly Api<'Factory'>[]; hasMore: boolean }) {
  return (
    <>
      <section className="scroll-x" tabIndex={0} aria-label="Factories">
        <Table verticalSpacing="sm" miw={700}>
          <Table.Thead>
            <Table.Tr>
              {['Name', 'State', 'Problems', 'Source', 'Updated'].map((label) => (
                <Table.Th key={label} scope="col">
                  {label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {factories.map((factory) => (
              <Row key={factory.uid} factory={factory} />
            ))}
          </Table.Tbody>
        </Table>
      </section>
      <Text size="sm" c="dimmed" role="status">
        {countOf(factories.length, 'factory', 'factories')}
        {hasMore ? ' so far' : ''}
      </Text>
    </>
  );
}

/** Only what is in sight is asked how it stands. */
function Row({ factory }: { factory: Api<'Factory'> }) {
  const { ref, entry } = useIntersection<HTMLTableRowElement>({ rootMargin: '200px' });
  const { data: status, error } = useStatus(factory.uid, {
    enabled: entry?.isIntersecting === true,
    everyMs: 2 * LIVE_MS,
  });
  const problems = status === undefined ? undefined : problemsOf(status).length;
  return (
    <Table.Tr ref={ref}>
      <Table.Th scope="row" maw={260}>
        <ListedName to={factory.uid}>{factory.name}</ListedName>
        {factory.slug !== factory.name && (
          <Text size="xs" c="dimmed" fw={400}>
            {factory.slug}
          </Text>
        )}
      </Table.Th>
      <Table.Td>
        <Group gap={4}>
          {status === undefined ? (
            <Text size="sm" c="dimmed">
              {error === null ? '…' : 'not known'}
            </Text>
          ) : (
            <Link to={`${factory.uid}/sync`}>
              <FactoryStateBadge status={status} />
              <span className="visually-hidden"> how {factory.slug} stands</span>
            </Link>
          )}
          {factory.suspended && (
            <Badge color="orange" miw="max-content">
              Suspended
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td>
        {problems === undefined ? (
          ''
        ) : problems === 0 ? (
          <Text size="sm" c="dimmed">
            none
          </Text>
        ) : (
          <Anchor component={Link} to={`${factory.uid}/sync`} size="sm">
            {problems}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td maw={320}>
        <SourceText source={factory.source} />
      </Table.Td>
      <Table.Td>
        <Time at={factory.updated_at} as="ago" />
      </Table.Td>
    </Table.Tr>
  );
}
