/** What the tree and the raw text look like both. */
import type { CSSProperties } from 'react';

/** Height of a row of one line. */
export const LINE_PX = 22;

/** The part that scrolls. */
export const PANE: CSSProperties = {
  maxHeight: 'min(65vh, 800px)',
  overflow: 'auto',
  border: '1px solid var(--mantine-color-default-border)',
  borderRadius: 'var(--mantine-radius-md)',
  padding: 'var(--mantine-spacing-xs)',
  overflowAnchor: 'none',
  contain: 'content',
};
