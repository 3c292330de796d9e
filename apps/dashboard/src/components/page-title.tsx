/** The heading of a page, its way back, and what can be done there; also the title of the browser's tab. */
import { Anchor, Breadcrumbs, Group, Stack, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { Link } from 'react-router';
import { UntrustedText } from './text/untrusted-text.tsx';
import { withHiddenNamed } from './text/hidden-characters.ts';

interface PageTitleProps {
  children: string;
  /** Pages above this one, outermost first. */
  above?: readonly { label: string; to: string }[];
  /** Beside the heading: state. */
  aside?: ReactNode;
  /** At the right: buttons. */
  actions?: ReactNode;
}

export function PageTitle({ children, above = [], aside, actions }: PageTitleProps) {
  useEffect(() => {
    document.title = `${withHiddenNamed(children)} · Millwright`;
  }, [children]);
  return (
    <Stack gap={4} mb="md">
      {above.length > 0 && (
        <nav aria-label="Breadcrumb">
          <Breadcrumbs>
            {above.map(({ label, to }) => (
              <Anchor key={to} component={Link} to={to} size="sm">
                <UntrustedText>{label}</UntrustedText>
              </Anchor>
            ))}
          </Breadcrumbs>
        </nav>
      )}
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <Title order={1} size="h3">
            <UntrustedText>{children}</UntrustedText>
          </Title>
          {aside}
        </Group>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
    </Stack>
  );
}
