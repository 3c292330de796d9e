/** What all pages of a factory share: its name, where it comes from, and its parts as tabs. */
import { Alert, Anchor, Badge, Group, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useOutletContext, useParams } from 'react-router';
import { api, ask, type Api } from '../../api/client.ts';
import { isGone } from '../../api/problems.ts';
import { useMay } from '../../api/session.tsx';
import { live } from '../../app/queries.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { PageTitle } from '../../components/page-title.tsx';

/** The factory of the page; only below its frame. */
export function useFactory(): Api<'Factory'> {
  return useOutletContext<Api<'Factory'>>();
}

function useFactoryQuery(uid: string) {
  return useQuery({
    queryKey: ['factory', uid],
    queryFn: ({ signal }) => ask(api.GET('/factory/{factory_uid}', { params: { path: { factory_uid: uid } }, signal })),
    refetchInterval: live(15_000),
  });
}

export function FactoryFrame() {
  const { factoryUid = '' } = useParams();
  const query = useFactoryQuery(factoryUid);
  if (query.data !== undefined && isGone(query.error)) return <Gone factory={query.data} />;
  return (
    <QueryView query={query} above={{ label: 'All factories', to: '/factories' }}>
      {(factory) => <Frame factory={factory} />}
    </QueryView>
  );
}

/** Nothing of it is asked for any more. */
function Gone({ factory: { name } }: { factory: Api<'Factory'> }) {
  return (
    <>
      <PageTitle above={[{ label: 'Factories', to: '/factories' }]} aside={<Badge color="orange">Deleted</Badge>}>
        {name}
      </PageTitle>
      <Alert color="orange" role="alert" title="This factory was deleted">
        Its webhooks answer 404, and its automations start nothing any more.{' '}
        <Anchor component={Link} to="/factories" size="sm" underline="always">
          All factories
        </Anchor>
      </Alert>
    </>
  );
}

function Frame({ factory }: { factory: Api<'Factory'> }) {
  const { pathname } = useLocation();
  const go = useNavigate();
  const base = `/factories/${factory.uid}`;
  const isManager = useMay('manager');
  const tabs = [
    ['webhooks', 'Webhooks'],
    ['automations', 'Automations'],
    ['sync', 'Sync'],
    ['runs', 'Runs'],
    ...(isManager ? [['secrets', 'Secrets']] : []),
    ['charts', 'Charts'],
  ] as [string, string][];
  const here = tabs.find(([path]) => pathname.startsWith(`${base}/${path}`))?.[0] ?? null;
  return (
    <>
      <Group gap="xs" mb={6}>
        <strong>
          <UntrustedText>{factory.name}</UntrustedText>
        </strong>
        {factory.slug !== factory.name && (
          <Text span size="sm" c="dimmed" className="mono" title="Slug">
            {factory.slug}
          </Text>
        )}
        <Badge color="gray">{factory.definitions_managed ? 'Managed in files' : 'Managed here'}</Badge>
        {factory.suspended && <Badge color="orange">Suspended</Badge>}
      </Group>
      <Tabs
        value={here}
        onChange={(path) => void go(`${base}/${path}`)}
        mb="md"
        keepMounted={false}
        activateTabWithKeyboard={false}
      >
        <Tabs.List aria-label={`Parts of the factory ${withHiddenNamed(factory.name)}`}>
          {tabs.map(([path, label]) => (
            <Tabs.Tab key={path} value={path}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {here === null ? (
          <Outlet context={factory} />
        ) : (
          <Tabs.Panel value={here} pt="md" tabIndex={-1}>
            <Outlet context={factory} />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}
