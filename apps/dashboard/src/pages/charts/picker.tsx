/** Chooses one thing that charts are limited to, by its name. */
import { Select } from '@mantine/core';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { useChoices } from './range.tsx';

interface PickerProps {
  /** In the address. */
  name: string;
  label: string;
  all: string;
  things: readonly { uid: string; name: string }[];
}

export function Picker({ name, label, all, things }: PickerProps) {
  const [of, choose] = useChoices();
  const value = of(name);
  // What the address names may be gone, or not yet known here.
  const data = [
    ...things,
    ...(value === null || things.some(({ uid }) => uid === value) ? [] : [{ uid: value, name: value }]),
  ];
  return (
    <Select
      label={label}
      placeholder={all}
      data={data.map((thing) => ({ value: thing.uid, label: withHiddenNamed(thing.name) }))}
      value={value}
      onChange={(chosen) => choose(name, chosen)}
      clearable
      searchable
      clearButtonProps={{ 'aria-label': `${all} again` }}
      nothingFoundMessage="None has this name"
      style={{ flex: '1 1 12rem' }}
      maw={320}
    />
  );
}
