/** Text as it came, line by line; only what is in sight is laid out. */
import { Group } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { FindBox, useFind } from './find.tsx';
import { MarkedText } from './marked-text.tsx';
import { piecesOf, piecesWith } from './raw-lines.ts';
import { LINE_PX, PANE } from './pane.ts';

export function RawText({ text, label }: { text: string; label: string }) {
  const pane = useRef<HTMLDivElement>(null);
  const pieces = useMemo(() => piecesOf(text), [text]);
  const virtual = useVirtualizer({
    count: pieces.length,
    getScrollElement: () => pane.current,
    estimateSize: () => LINE_PX,
    overscan: 15,
    useFlushSync: false,
  });
  const find = useFind(
    (wanted) => piecesWith(text, pieces, wanted),
    (piece) => virtual.scrollToIndex(piece, { align: 'center' }),
  );
  const digits = String(pieces.at(-1)?.line ?? pieces.length).length;
  return (
    <>
      <Group justify="flex-end" mb={6}>
        <FindBox find={find} label={`Find in ${label}`} />
      </Group>
      <div ref={pane} className="mono" tabIndex={0} role="region" aria-label={label} style={PANE}>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const { line, start: from, end: to } = pieces[index] ?? { start: 0, end: 0 };
            return (
              <div
                key={index}
                ref={virtual.measureElement}
                data-index={index}
                style={{
                  position: 'absolute',
                  insetInline: 0,
                  top: start,
                  display: 'flex',
                  gap: '0.75rem',
                  minHeight: LINE_PX,
                  lineHeight: `${LINE_PX}px`,
                  background: find.found[find.at] === index ? 'light-dark(#fff9db, #3d3a1f)' : undefined,
                }}
              >
                <span
                  aria-hidden
                  style={{
                    flex: `0 0 ${digits}ch`,
                    textAlign: 'end',
                    color: 'var(--mantine-color-dimmed)',
                    userSelect: 'none',
                  }}
                >
                  {line}
                </span>
                <span style={{ minWidth: 0 }}>
                  <MarkedText text={text.slice(from, to)} wanted={find.wanted} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}
