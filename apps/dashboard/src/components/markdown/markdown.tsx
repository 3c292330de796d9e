/** Markdown of agents and repositories: no HTML, no images, no automatic links; loaded when there is some. */
import { Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { UntrustedText } from '../text/untrusted-text.tsx';
import { isWithinMarkdownLimits } from './markdown-bounds.ts';
import { ErrorBoundary } from './markdown-guard.tsx';

const Rendered = lazy(() => import('./markdown-rendered.tsx'));

/** What is too long, or written to keep a parser busy, is shown as the text that it is. */
export function Markdown({ text }: { text: string }) {
  const plain = (
    <Text size="sm" component="div">
      <UntrustedText>{text}</UntrustedText>
    </Text>
  );
  if (!isWithinMarkdownLimits(text)) return plain;
  return (
    <ErrorBoundary key={text} fallback={plain}>
      <Suspense fallback={plain}>
        <Rendered text={text} />
      </Suspense>
    </ErrorBoundary>
  );
}
