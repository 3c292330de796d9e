/** JSON text, as a tree and as it came; safe and quick whatever it holds. Text that is no JSON is shown as it came. */
import { Alert, Group, SegmentedControl, Stack } from '@mantine/core';
import { useMemo, useState, type ReactNode } from 'react';
import { CopyButton } from '../text/copy.tsx';
import { JsonTree } from './json-tree.tsx';
import { RawText } from './raw-text.tsx';
import { readJson } from './read-json.ts';

/** A taller pane than browsers can scroll would be needed for more. */
const ROWS_MAX = 500_000;

interface JsonViewProps {
  text: string;
  /** What the text is, in a word or two. */
  label?: string;
  /** Stands beside the button that copies. */
  aside?: ReactNode;
}

export function JsonView({ text, label = 'JSON', aside }: JsonViewProps) {
  const [wished, setWished] = useState<'tree' | 'raw'>('tree');
  const tree = useMemo(() => readJson(text), [text]);
  const why =
    tree === undefined
      ? 'This is no JSON, so it is shown as it came.'
      : tree.kind.length > ROWS_MAX
        ? 'There are too many values for a tree, so it is shown as it came.'
        : undefined;
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        {why === undefined ? (
          <SegmentedControl
            size="xs"
            aria-label={`How ${label} is shown`}
            value={wished}
            onChange={(view) => setWished(view === 'raw' ? 'raw' : 'tree')}
            data={[
              { value: 'tree', label: 'Tree' },
              { value: 'raw', label: 'Raw' },
            ]}
          />
        ) : (
          <Alert p="xs" color="gray">
            {why}
          </Alert>
        )}
        <Group gap="xs">
          {aside}
          <CopyButton value={text} label="Copy" />
        </Group>
      </Group>
      {/* Another text begins with everything open and nothing looked for. */}
      <div>
        {tree !== undefined && why === undefined && wished === 'tree' ? (
          <JsonTree key={text} tree={tree} label={label} />
        ) : (
          <RawText key={text} text={text} label={label} />
        )}
      </div>
    </Stack>
  );
}
