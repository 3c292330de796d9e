/** Navigation around every page. */
import {
  ActionIcon,
  Alert,
  Anchor,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useRef, useSyncExternalStore, type ReactNode, type RefObject } from 'react';
import { Link, NavigationType, useLocation, useNavigationType } from 'react-router';
import { reachability } from '../api/reachability.ts';
import { useMay, useSession, useSignOut } from '../api/session.tsx';
import { UntrustedText } from '../components/text/untrusted-text.tsx';
import { Icon } from '../components/icon.tsx';

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  useFocusOnArrival(main, pathname);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 210, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <AppShell.Header>
        <a
          className="skip"
          href="#main"
          onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
          }}
        >
          Skip to the content
        </a>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
              aria-expanded={opened}
            />
            <Anchor component={Link} to="/factories" fw={700} c="inherit" underline="never">
              Millwright
            </Anchor>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ColorScheme />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main">
        <MainNavigation />
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1} id="main">
        <Unreachable />
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

/**
 * Whoever follows a link is taken to the new page's begin, or to the field that it begins with, as a page load would:
 * screen readers read its heading, and Tab goes on from there. Going back comes to where one was.
 */
function useFocusOnArrival(main: RefObject<HTMLElement | null>, pathname: string): void {
  const shown = useRef(pathname);
  const isBack = useNavigationType() === NavigationType.Pop;
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    if (!isBack) globalThis.scrollTo({ top: 0, behavior: 'instant' });
    const begin = main.current?.querySelector<HTMLElement>('[data-autofocus]') ?? main.current;
    begin?.focus({ preventScroll: true });
  }, [main, pathname, isBack]);
}

function MainNavigation() {
  const { pathname } = useLocation();
  const isAdmin = useMay('admin');
  const links = [
    { to: '/factories', label: 'Factories' },
    { to: '/runs', label: 'Runs' },
    { to: '/schedules', label: 'Schedules' },
    { to: '/agent-identities', label: 'Agent identities' },
    { to: '/charts', label: 'Charts' },
    ...(isAdmin
      ? [
          { to: '/secrets', label: 'Team secrets' },
          { to: '/api-keys', label: 'API keys' },
          { to: '/federated-credentials', label: 'Federated credentials' },
          { to: '/audit', label: 'Audit trail' },
        ]
      : []),
  ];
  return (
    <>
      {links.map(({ to, label }) => {
        const isHere = pathname === to || pathname.startsWith(`${to}/`);
        return (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            active={isHere}
            aria-current={isHere ? 'page' : undefined}
          />
        );
      })}
      <NavLink component="a" href="docs" target="_blank" rel="noreferrer" label="API reference" />
    </>
  );
}

/** Said as long as nothing is heard of the server; what is shown stays. */
function Unreachable() {
  const isReachable = useSyncExternalStore(reachability.subscribe, reachability.isReachable);
  return (
    <div role="status">
      {!isReachable && (
        <Alert color="orange" mb="md" title="The server does not answer">
          What you see may be old. It is asked again every few seconds; nothing that you typed is lost.
        </Alert>
      )}
    </div>
  );
}

function ColorScheme() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="subtle"
      size="lg"
      aria-label={`Use ${other} colours`}
      title={`Use ${other} colours`}
      onClick={() => setColorScheme(other)}
    >
      <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}

function Account() {
  const { key } = useSession();
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" size="lg" aria-label="Account">
          <Icon name="person" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" component="div">
            <UntrustedText>{key.principal.display_name}</UntrustedText>
          </Text>
          <Text size="xs">
            {key.role}
            {key.factories === null ? '' : ' of some factories'} · key <UntrustedText>{key.name}</UntrustedText>
          </Text>
        </Menu.Label>
        <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
