/** The name of something in a list: two lines of it at most, the whole on hover. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { ForeignText } from './untrusted-text.tsx';
import { withHiddenNamed } from './hidden-characters.ts';

interface ListedNameProps {
  children: string;
  /** Its page, where it has one. */
  to?: string;
}

const LOOK = { size: 'sm', fw: 600, lineClamp: 2, miw: 130, style: { overflowWrap: 'break-word' } } as const;

export function ListedName({ children, to }: ListedNameProps) {
  const [title, name] = [withHiddenNamed(children), <ForeignText key="name">{children}</ForeignText>];
  return to === undefined ? (
    <Text {...LOOK} title={title}>
      {name}
    </Text>
  ) : (
    <Anchor {...LOOK} component={Link} to={to} title={title}>
      {name}
    </Anchor>
  );
}
