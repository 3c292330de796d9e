/** A long key or value by itself: what it says, with its line breaks. */
import { Group, Stack, Title } from '@mantine/core';
import { CopyButton } from '../text/copy.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { RawText } from './raw-text.tsx';
import type { JsonTree } from './read-json.ts';
import { isContainer, keyToken, ROW_TEXT_MAX, valueToken } from './rows.ts';

export function WholeValue({ tree, row, onClose }: { tree: JsonTree; row: number; onClose: () => void }) {
  return (
    <Dialog onClose={onClose} size="xl" title="The whole text">
      <Stack>
        {partsOf(tree, row).map(([name, text]) => (
          <Part key={name} name={name} text={text} />
        ))}
      </Stack>
    </Dialog>
  );
}

function Part({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <Group justify="space-between" mb={6}>
        <Title order={3} size="h5">
          {name}
        </Title>
        <CopyButton value={text} label={`Copy the ${name.toLowerCase()}`} />
      </Group>
      <RawText text={text} label={name} />
    </div>
  );
}

function partsOf(tree: JsonTree, row: number): [name: string, text: string][] {
  const key = keyToken(tree, row) ?? '';
  const value = isContainer(tree, row) ? '' : valueToken(tree, row);
  return [
    ...(key.length > ROW_TEXT_MAX ? [['Key', meant(key)] as [string, string]] : []),
    ...(value.length > ROW_TEXT_MAX ? [['Value', meant(value)] as [string, string]] : []),
  ];
}

/** What a string says; a number as it was sent. */
function meant(token: string): string {
  return token.startsWith('"') ? (JSON.parse(token) as string) : token;
}
