/** The lines around a problem with its position underlined. Text of repositories: always plain text. */
import { Text } from '@mantine/core';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import type { Diagnostic } from './queries.ts';

export function Excerpt({ problem }: { problem: Diagnostic }) {
  const { excerpt, path, line } = problem;
  if (excerpt === undefined) return null;
  const width = String(excerpt.first_line + excerpt.lines.length).length;
  return (
    <pre
      className="scroll-x mono lines"
      tabIndex={0}
      aria-label={`${path}, around line ${line}`}
      style={{
        margin: 0,
        padding: '6px 8px',
        overflowWrap: 'normal',
        background: 'var(--mantine-color-default-hover)',
        borderRadius: 'var(--mantine-radius-sm)',
      }}
    >
      {excerpt.lines.map((text, index) => {
        const number = excerpt.first_line + index;
        const range = rangeIn(problem, number, text.length);
        return (
          <div key={number} style={{ minHeight: '1.4em', fontWeight: range === undefined ? undefined : 600 }}>
            <Text span inherit c="dimmed" style={{ userSelect: 'none' }}>
              {range === undefined ? ' ' : '▸'} {String(number).padStart(width)} │{' '}
            </Text>
            {range === undefined ? <Piece>{text}</Piece> : <Marked text={text} {...range} />}
          </div>
        );
      })}
    </pre>
  );
}

interface Range {
  /** UTF-16 units from the beginning of the line. */
  from: number;
  to: number;
}

/** What of a line belongs to the place; undefined for other lines. A place without an end is one character. */
function rangeIn(
  { line, column, end_line: endLine = line, end_column: endColumn = column + 1 }: Diagnostic,
  number: number,
  length: number,
): Range | undefined {
  if (number < line || number > endLine) return undefined;
  const from = number === line ? Math.min(column - 1, length) : 0;
  const to = number === endLine ? Math.min(endColumn - 1, length) : length;
  return { from, to: Math.max(from, to) };
}

/** Something is underlined also where the place is behind the end of the line. */
function Marked({ text, from, to }: { text: string } & Range) {
  const marked = text.slice(from, to);
  return (
    <>
      <Piece>{text.slice(0, from)}</Piece>
      <span
        data-marked
        style={{
          textDecoration: 'underline 2px',
          textUnderlineOffset: 3,
          textDecorationColor: 'var(--mantine-color-error)',
        }}
      >
        {marked === '' ? '\u00a0' : <Piece>{marked}</Piece>}
      </span>
      <Piece>{text.slice(to)}</Piece>
    </>
  );
}

function Piece({ children }: { children: string }) {
  return children === '' ? null : (
    <bdi style={{ whiteSpace: 'pre' }}>
      <UntrustedText>{children}</UntrustedText>
    </bdi>
  );
}
