/** Untrusted text as it is: limited in height, truncated until it is expanded. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { sizeText } from '../../components/text/time.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';

const CUT = 8_000;

interface VerbatimProps {
  text: string;
  label: string;
  /** Pixels; null where the text takes what it needs. */
  maxHeight?: number | null;
}

export function Verbatim({ text, label, maxHeight = 320 }: VerbatimProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : text.slice(0, CUT);
  return (
    <>
      <pre
        className="mono scroll-x"
        tabIndex={0}
        role="group"
        aria-label={label}
        style={{
          margin: 0,
          padding: '6px 8px',
          maxHeight: maxHeight ?? undefined,
          overflow: 'auto',
          background: 'var(--mantine-color-default-hover)',
          borderRadius: 'var(--mantine-radius-sm)',
        }}
      >
        <UntrustedText>{shown}</UntrustedText>
      </pre>
      {shown.length < text.length && (
        <Button size="compact-xs" variant="subtle" onClick={() => setWhole(true)}>
          Show all of it ({sizeText(text.length)})
        </Button>
      )}
    </>
  );
}
