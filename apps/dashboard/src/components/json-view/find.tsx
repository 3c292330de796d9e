/** Looking for text among rows: how many have it, and from one to the next. */
import { ActionIcon, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../icon.tsx';

export interface Find {
  wanted: string;
  /** Rows that have it, in order, and which of them is looked at. */
  found: readonly number[];
  at: number;
  look(wanted: string): void;
  /** To the next (1) or the previous one (-1), around the end. */
  step(by: 1 | -1): void;
}

/** `rowsWith` looks, `reveal` shows a row. */
export function useFind(rowsWith: (wanted: string) => readonly number[], reveal: (row: number) => void): Find {
  const [{ wanted, found, at }, set] = useState<Pick<Find, 'wanted' | 'found' | 'at'>>({
    wanted: '',
    found: [],
    at: 0,
  });
  const show = (next: Pick<Find, 'wanted' | 'found' | 'at'>): void => {
    set(next);
    const row = next.found[next.at];
    if (row !== undefined) reveal(row);
  };
  return {
    wanted,
    found,
    at,
    look: (text) => show({ wanted: text, found: rowsWith(text), at: 0 }),
    step: (by) => show({ wanted, found, at: (at + by + found.length) % Math.max(1, found.length) }),
  };
}

export function FindBox({ find: { wanted, found, at, look, step }, label }: { find: Find; label: string }) {
  const count =
    found.length === 0 ? 'Nothing found' : `${(at + 1).toLocaleString()} of ${found.length.toLocaleString()}`;
  return (
    <Group gap={4} wrap="nowrap" role="search">
      <TextInput
        size="xs"
        type="search"
        aria-label={label}
        placeholder="Find"
        value={wanted}
        w={150}
        onChange={(event) => look(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          step(event.shiftKey ? -1 : 1);
        }}
      />
      <ActionIcon
        variant="default"
        aria-label="Previous match"
        title="Previous match"
        disabled={found.length === 0}
        onClick={() => step(-1)}
        style={{ rotate: '180deg' }}
      >
        <Icon name="down" size={14} />
      </ActionIcon>
      <ActionIcon
        variant="default"
        aria-label="Next match"
        title="Next match"
        disabled={found.length === 0}
        onClick={() => step(1)}
      >
        <Icon name="down" size={14} />
      </ActionIcon>
      <Text size="xs" role="status" style={{ whiteSpace: 'nowrap' }}>
        {wanted === '' ? '' : count}
      </Text>
    </Group>
  );
}
