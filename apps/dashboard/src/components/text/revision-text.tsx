/** A revision: short, with the whole on hover and to copy, and the way to its page where it has one. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Copyable } from './copy.tsx';
import { UntrustedText } from './untrusted-text.tsx';
import { revisionPath, shortRevision } from './revision.ts';

interface RevisionTextProps {
  factoryUid: string;
  /** Null: there is none. */
  revision: string | null;
  /** Completes “Copy …”; without it there is no button. */
  what?: string;
  none?: string;
}

export function RevisionText({ factoryUid, revision, what, none = 'none yet' }: RevisionTextProps) {
  if (revision === null)
    return (
      <Text span size="sm" c="dimmed">
        {none}
      </Text>
    );
  const path = revisionPath(factoryUid, revision);
  const short = <UntrustedText>{shortRevision(revision)}</UntrustedText>;
  const shown =
    path === undefined ? (
      <span className="mono">{short}</span>
    ) : (
      <Anchor component={Link} to={path} title={revision} className="mono">
        {short}
      </Anchor>
    );
  return what === undefined ? (
    shown
  ) : (
    <Copyable value={revision} what={what} mono={false}>
      {shown}
    </Copyable>
  );
}
