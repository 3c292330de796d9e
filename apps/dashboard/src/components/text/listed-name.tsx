/** A name in a list: two lines at most, the whole on hover. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { UntrustedText } from './untrusted-text.tsx';
import { withHiddenNamed } from './hidden-characters.ts';

interface ListedNameProps {
  children: string;
  /** Its page, where it has one. */
  to?: string;
}

const NAME_STYLE = { size: 'sm', fw: 600, lineClamp: 2, miw: 130, style: { overflowWrap: 'break-word' } } as const;

export function ListedName({ children, to }: ListedNameProps) {
  const [title, name] = [withHiddenNamed(children), <UntrustedText key="name">{children}</UntrustedText>];
  return to === undefined ? (
    <Text {...NAME_STYLE} title={title}>
      {name}
    </Text>
  ) : (
    <Anchor {...NAME_STYLE} component={Link} to={to} title={title}>
      {name}
    </Anchor>
  );
}
