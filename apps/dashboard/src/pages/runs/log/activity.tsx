/** The live log of a run, virtualised; it follows the end until the user scrolls away. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { entriesOf, latestPlan, type Entry, type RunEvent } from './entries.ts';
import { EntryView } from './entry-view.tsx';
import type { LogState, RunLog } from './log.ts';
import { Plan } from './plan.tsx';

interface ActivityProps {
  log: RunLog;
  state: LogState;
  isLive: boolean;
}

export function Activity({ log, state, isLive }: ActivityProps) {
  const { events, isAtEnd, isLoading, error } = state;
  const plan = useMemo(() => latestPlan(events), [events]);
  const entries = useMemo(() => entriesOf(events), [events]);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useEntries(box, entries, isLive);
  const isFollowed = useIsDown(box) && isAtEnd;
  const toNewest = (): void => void (isAtEnd ? Promise.resolve() : log.toNewest()).then(() => virtual.scrollToEnd());
  return (
    <Stack gap="xs">
      {plan !== undefined && plan.length > 0 && <Plan steps={plan} />}
      {error !== null && <ProblemAlert error={error} onRetry={() => void log.toNewest()} />}
      <Bar
        log={log}
        state={state}
        isLive={isLive}
        isFollowed={isFollowed}
        onNewest={entries.length > 0 && !isFollowed ? toNewest : undefined}
      />
      {entries.length === 0 ? (
        <Nothing isLoading={isLoading} isLive={isLive} />
      ) : (
        <Entries box={box} virtual={virtual} entries={entries} />
      )}
      {!isAtEnd && entries.length > 0 && (
        <Button
          size="compact-sm"
          variant="default"
          w="max-content"
          loading={isLoading}
          onClick={() => void log.later()}
        >
          Load later entries
        </Button>
      )}
    </Stack>
  );
}

type Box = RefObject<HTMLDivElement | null>;

function useEntries(box: Box, entries: readonly Entry[], isLive: boolean) {
  const keyOf = useCallback((index: number) => entries[index]?.seq ?? index, [entries]);
  return useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: () => 48,
    overscan: 6,
    getItemKey: keyOf,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: 24,
    initialOffset: isLive ? Number.MAX_SAFE_INTEGER : 0,
  });
}

interface BarProps extends ActivityProps {
  isFollowed: boolean;
  /** Undefined where the newest is in sight. */
  onNewest: (() => void) | undefined;
}

function Bar({ log, state: { events, hasEarlier, isLoading }, isLive, isFollowed, onNewest }: BarProps) {
  const usage = usageText(events);
  return (
    <Group justify="space-between" mih={isLive ? 30 : undefined}>
      <Group gap="xs">
        {hasEarlier && (
          <Button size="compact-sm" variant="default" loading={isLoading} onClick={() => void log.earlier()}>
            Load earlier entries
          </Button>
        )}
        {usage !== '' && (
          <Text size="sm" c="dimmed">
            {usage}
          </Text>
        )}
      </Group>
      <Group gap="xs">
        {isLive && (
          <Text size="sm" c="dimmed" role="status">
            {isFollowed ? 'Live' : 'Live, further down'}
          </Text>
        )}
        {onNewest !== undefined && (
          <Button size="compact-sm" onClick={onNewest}>
            Jump to newest
          </Button>
        )}
      </Group>
    </Group>
  );
}

function Entries({
  box,
  virtual,
  entries,
}: {
  box: Box;
  virtual: ReturnType<typeof useEntries>;
  entries: readonly Entry[];
}) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const toggle = useCallback(
    (seq: number) =>
      setOpened((before) =>
        before.has(seq) ? new Set([...before].filter((other) => other !== seq)) : new Set([...before, seq]),
      ),
    [],
  );
  return (
    <div
      ref={box}
      className="scroll-x"
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Activity"
      style={{
        maxHeight: 'max(20rem, 62dvh)',
        overflow: 'auto',
        overflowAnchor: 'none',
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-md)',
      }}
    >
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const entry = entries[index];
          return (
            entry !== undefined && (
              <div
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                style={{
                  position: 'absolute',
                  top: 0,
                  insetInlineStart: 0,
                  width: '100%',
                  transform: `translateY(${start}px)`,
                }}
              >
                <EntryView entry={entry} isOpen={opened.has(entry.seq)} onToggle={toggle} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

/** Whether the end of what is scrolled is in sight; looked at after whatever may have changed it. */
function useIsDown(box: Box): boolean {
  const [isDown, setDown] = useState(true);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => setDown(element.scrollHeight - element.scrollTop - element.clientHeight < 32);
    look();
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  });
  return isDown;
}

function Nothing({ isLoading, isLive }: { isLoading: boolean; isLive: boolean }) {
  if (isLoading) return <Loader size="sm" aria-label="Loading the log" />;
  return (
    <Text size="sm" c="dimmed">
      {isLive ? 'Nothing yet: what the agent does appears here.' : 'The run has left no log.'}
    </Text>
  );
}

/** How full the agent's context is, where it says so. */
function usageText(events: readonly RunEvent[]): string {
  const payload = events.findLast(({ event_type: type }) => type === 'usage')?.payload;
  if (payload?.context_tokens === undefined) return '';
  const max = payload.context_tokens_max === undefined ? '' : ` of ${payload.context_tokens_max.toLocaleString()}`;
  return `${payload.context_tokens.toLocaleString()}${max} tokens in the context`;
}
