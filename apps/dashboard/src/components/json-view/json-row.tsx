/** A row of the tree: a key and its value, or how much is inside. */
import { Button } from '@mantine/core';
import { Icon } from '../icon.tsx';
import { MarkedText } from './marked-text.tsx';
import type { JsonKind, JsonTree } from './read-json.ts';
import { isContainer, keyToken, shortened, valueToken } from './rows.ts';

const COLOURS: Readonly<Partial<Record<JsonKind, string>>> = {
  string: 'light-dark(#0b5e45, #63e6be)',
  number: 'light-dark(#1864ab, #74c0fc)',
  word: 'light-dark(#862e9c, #e599f7)',
};
/** From this level on the indentation no longer tells how deep it is: then a number does. */
const NUMBERED_FROM = 10;

interface JsonRowProps {
  tree: JsonTree;
  row: number;
  isCollapsed: boolean;
  wanted: string;
  onToggle: () => void;
  onWhole: () => void;
}

export function JsonRow({ tree, row, isCollapsed, wanted, onToggle, onWhole }: JsonRowProps) {
  const level = tree.level[row] ?? 0;
  const canOpen = isContainer(tree, row);
  return (
    <div style={{ display: 'flex', paddingInlineStart: `min(${level * 0.9}rem, 40%)` }}>
      {/* The keyboard has the arrows for it. */}
      <span
        aria-hidden
        onClick={canOpen ? onToggle : undefined}
        style={{ flex: '0 0 1.3rem', cursor: canOpen ? 'pointer' : undefined }}
      >
        {canOpen && <Icon name={isCollapsed ? 'right' : 'down'} size={13} />}
      </span>
      <span style={{ minWidth: 0 }}>
        {level >= NUMBERED_FROM && (
          <span
            aria-hidden
            title={`Level ${level}`}
            style={{ color: 'var(--mantine-color-dimmed)', userSelect: 'none' }}
          >
            {level}▸{' '}
          </span>
        )}
        <Key tree={tree} row={row} wanted={wanted} />
        <Value tree={tree} row={row} wanted={wanted} />
        <Rest tree={tree} row={row} onWhole={onWhole} />
      </span>
    </div>
  );
}

type Part = Pick<JsonRowProps, 'tree' | 'row' | 'wanted'>;

function Key({ tree, row, wanted }: Part) {
  const token = keyToken(tree, row);
  if (token !== undefined)
    return (
      <>
        <MarkedText text={shortened(token).shown} wanted={wanted} />:{' '}
      </>
    );
  return (tree.level[row] ?? 0) === 0 ? null : (
    <span style={{ color: 'var(--mantine-color-dimmed)' }}>{tree.position[row]}: </span>
  );
}

function Value({ tree, row, wanted }: Part) {
  const [kind = 'word', size = 0] = [tree.kind[row], tree.size[row]];
  if (kind === 'object' || kind === 'array') return <span>{containerText(kind, size)}</span>;
  return (
    <span style={{ color: COLOURS[kind] }}>
      <MarkedText text={shortened(valueToken(tree, row)).shown} wanted={wanted} />
    </span>
  );
}

function containerText(kind: 'object' | 'array', size: number): string {
  if (size === 0) return kind === 'object' ? '{}' : '[]';
  const inside = kind === 'object' ? (size === 1 ? 'member' : 'members') : size === 1 ? 'item' : 'items';
  return `${kind === 'object' ? '{' : '['} ${size.toLocaleString()} ${inside} ${kind === 'object' ? '}' : ']'}`;
}

function Rest({ tree, row, onWhole }: Pick<JsonRowProps, 'tree' | 'row' | 'onWhole'>) {
  const rest = restOf(tree, row);
  if (rest === 0) return null;
  return (
    <>
      …{' '}
      <Button size="compact-xs" variant="default" tabIndex={-1} onClick={onWhole}>
        Show all ({rest.toLocaleString()} more characters)
      </Button>
    </>
  );
}

/** Units of a row's tokens that it does not show. */
export function restOf(tree: JsonTree, row: number): number {
  const value = tree.kind[row] === 'object' || tree.kind[row] === 'array' ? '' : valueToken(tree, row);
  return shortened(value).rest + shortened(keyToken(tree, row) ?? '').rest;
}
