/** JSON as a virtualised tree with keyboard navigation. */
import { Button, Group, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
  type AriaAttributes,
  type KeyboardEvent,
  type RefObject,
} from 'react';
import { Copyable } from '../text/copy.tsx';
import { FindBox, useFind } from './find.tsx';
import { JsonRow, restOf } from './json-row.tsx';
import { LINE_PX, PANE } from './pane.ts';
import type { JsonTree as Tree } from './read-json.ts';
import { around, containers, isContainer, placeOf, pointerOf, rowsWith, visibleRows } from './rows.ts';
import { WholeValue } from './whole-value.tsx';

const PAGE_ROWS = 20;

export function JsonTree({ tree, label }: { tree: Tree; label: string }) {
  const pane = useRef<HTMLDivElement>(null);
  const [whole, setWhole] = useState<number>();
  const navigation = useTreeNavigation(tree, pane, setWhole);
  const find = useFind((wanted) => rowsWith(tree, wanted), navigation.reveal);
  return (
    <>
      <Group justify="space-between" mb={6} gap="xs">
        <Group gap={4}>
          <Button size="compact-xs" variant="default" onClick={navigation.openAll}>
            Open all
          </Button>
          <Button size="compact-xs" variant="default" onClick={navigation.closeAll}>
            Close all
          </Button>
        </Group>
        <FindBox find={find} label={`Find in ${label}`} />
      </Group>
      <Rows tree={tree} label={label} pane={pane} walk={navigation} wanted={find.wanted} onWhole={setWhole} />
      <Place tree={tree} row={navigation.active} />
      {whole !== undefined && <WholeValue tree={tree} row={whole} onClose={() => setWhole(undefined)} />}
    </>
  );
}

type TreeNavigation = ReturnType<typeof useTreeNavigation>;

/** Which rows are open, which one is active, and what moves from one to another. */
function useTreeNavigation(tree: Tree, pane: RefObject<HTMLDivElement | null>, onWhole: (row: number) => void) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  // A new object each time: the same row may be asked for again after somebody scrolled.
  const [active, setActive] = useState({ row: 0, isAsked: false });
  const visible = useMemo(() => visibleRows(tree, collapsed), [tree, collapsed]);
  const virtual = useVirtualizer({
    count: visible.length,
    getScrollElement: () => pane.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => visible[index] ?? index,
    overscan: 15,
    useFlushSync: false,
  });
  const place = placeOf(active.row, visible);
  const showActive = useEffectEvent(() => {
    if (active.isAsked && place >= 0) virtual.scrollToIndex(place);
  });
  // Only when a row was asked for: opening and closing others scrolls nowhere.
  useEffect(() => showActive(), [active]);

  const go = (row: number): void => setActive({ row, isAsked: true });
  const toggle = (row: number): void =>
    setCollapsed(collapsed.has(row) ? without(collapsed, [row]) : new Set([...collapsed, row]));
  const press = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actionOf(event.key, tree, active.row, collapsed);
    if (act === undefined) return;
    event.preventDefault();
    if (act === 'toggle') toggle(active.row);
    else if (act === 'whole') onWhole(active.row);
    else if ('row' in act) go(act.row);
    else go(visible[Math.max(0, Math.min(visible.length - 1, place + act.by))] ?? 0);
  };
  /** Opens what is around a row, and goes there. */
  const reveal = (row: number): void => {
    const outer = around(tree, row).filter((container) => collapsed.has(container));
    if (outer.length > 0) setCollapsed(without(collapsed, outer));
    go(row);
  };
  const openAll = (): void => setCollapsed(new Set());
  const closeAll = (): void => {
    setCollapsed(new Set(containers(tree, 1)));
    go(0);
  };
  return {
    visible,
    virtual,
    place,
    collapsed,
    active: active.row,
    touch: (row: number) => setActive({ row, isAsked: false }),
    toggle,
    press,
    reveal,
    openAll,
    closeAll,
  };
}

interface RowsProps {
  tree: Tree;
  label: string;
  pane: RefObject<HTMLDivElement | null>;
  walk: TreeNavigation;
  wanted: string;
  onWhole: (row: number) => void;
}

function Rows({
  tree,
  label,
  pane,
  walk: { visible, virtual, place, collapsed, active, touch, toggle, press },
  wanted,
  onWhole,
}: RowsProps) {
  const id = useId();
  const items = virtual.getVirtualItems();
  return (
    <div
      ref={pane}
      className="mono"
      role="tree"
      tabIndex={0}
      aria-label={label}
      onKeyDown={press}
      style={PANE}
      aria-activedescendant={items.some(({ index }) => index === place) ? `${id}-${active}` : undefined}
    >
      <div role="none" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {items.map(({ index, start }) => {
          const row = visible[index] ?? 0;
          return (
            <div
              key={row}
              id={`${id}-${row}`}
              ref={virtual.measureElement}
              data-index={index}
              role="treeitem"
              tabIndex={-1}
              {...ariaPositionOf(tree, row)}
              aria-expanded={isContainer(tree, row) ? !collapsed.has(row) : undefined}
              aria-selected={row === active}
              onMouseDown={() => touch(row)}
              style={{
                position: 'absolute',
                insetInline: 0,
                top: start,
                minHeight: LINE_PX,
                lineHeight: `${LINE_PX}px`,
                background: row === active ? 'var(--mantine-color-default-hover)' : undefined,
              }}
            >
              <JsonRow
                tree={tree}
                row={row}
                isCollapsed={collapsed.has(row)}
                wanted={wanted}
                onToggle={() => toggle(row)}
                onWhole={() => onWhole(row)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Where a row stands, for those who do not see it. */
function ariaPositionOf(tree: Tree, row: number): AriaAttributes {
  const outer = tree.parent[row] ?? -1;
  return {
    'aria-level': (tree.level[row] ?? 0) + 1,
    'aria-posinset': (tree.position[row] ?? 0) + 1,
    'aria-setsize': outer < 0 ? 1 : tree.size[outer],
  };
}

/** Longer paths are copied by nobody. */
const PATH_MAX = 500;

function Place({ tree, row }: { tree: Tree; row: number }) {
  const pointer = pointerOf(tree, row) ?? '';
  return (
    <Group gap={6} mt={6} mih={24} wrap="nowrap">
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        Level {tree.level[row]}
        {pointer === '' ? '' : ', path'}
      </Text>
      {pointer !== '' && pointer.length < PATH_MAX && <Copyable value={pointer} what="the path" />}
    </Group>
  );
}

type Act = 'toggle' | 'whole' | { row: number } | { by: number };

/** What a key does in the row; undefined: nothing. */
function actionOf(key: string, tree: Tree, row: number, collapsed: ReadonlySet<number>): Act | undefined {
  const canOpen = isContainer(tree, row);
  const parent = tree.parent[row] ?? -1;
  switch (key) {
    case 'ArrowDown':
      return { by: 1 };
    case 'ArrowUp':
      return { by: -1 };
    case 'PageDown':
      return { by: PAGE_ROWS };
    case 'PageUp':
      return { by: -PAGE_ROWS };
    case 'Home':
      return { row: 0 };
    case 'End':
      return { by: Infinity };
    case 'ArrowRight':
      return canOpen ? (collapsed.has(row) ? 'toggle' : { by: 1 }) : undefined;
    case 'ArrowLeft':
      if (canOpen && !collapsed.has(row)) return 'toggle';
      return parent < 0 ? undefined : { row: parent };
    case 'Enter':
    case ' ':
      if (canOpen) return 'toggle';
      return restOf(tree, row) > 0 ? 'whole' : undefined;
    default:
      return undefined;
  }
}

function without(rows: ReadonlySet<number>, gone: readonly number[]): ReadonlySet<number> {
  const left = new Set(rows);
  for (const row of gone) left.delete(row);
  return left;
}
