/** Pull requests that a revision came with: their pages at the forge, their titles as foreign text. */
import { Anchor, Text } from '@mantine/core';
import type { Api } from '../../api/client.ts';
import { UntrustedText } from './untrusted-text.tsx';

type Merged = Api<'MergedPullRequest'>;

/** Nothing where there is none. */
export function MergedPullRequests({ merged }: { merged: readonly Merged[] }) {
  return merged.map((pull) => (
    <Text key={pull.number} size="sm" component="div">
      <PageAtForge pull={pull} /> <UntrustedText>{pull.title}</UntrustedText>{' '}
      <Text span size="xs" c="dimmed">
        by <UntrustedText>{pull.author}</UntrustedText>
      </Text>
    </Text>
  ));
}

/** The number, with a link where the forge told one. */
export function PageAtForge({ pull: { number, url } }: { pull: Pick<Merged, 'number' | 'url'> }) {
  if (url === null || !/^https?:\/\//i.test(url)) return <span>#{number}</span>;
  return (
    <Anchor href={url} target="_blank" rel="noreferrer noopener nofollow" size="sm">
      #{number}
    </Anchor>
  );
}
