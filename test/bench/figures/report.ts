/** What a stage of the benchmark reports, and how people read it: a table, aims that are met or missed, remarks. */

export type Cell = string | number;

/** A ratio or an amount that was aimed at. */
export interface Aim {
  what: string;
  wanted: { atLeast: number } | { atMost: number };
  value: number;
}

/** One table with what belongs to it. */
export interface Report {
  name: string;
  title: string;
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
  aims: readonly Aim[];
  /** What a reader must know: what was not measured and why, what limits a figure. */
  remarks: readonly string[];
}

/** Whether the aim is met by its figure as it is, not as it is rounded. */
export function isMet({ wanted, value }: Aim): boolean {
  return 'atLeast' in wanted ? value >= wanted.atLeast : value <= wanted.atMost;
}

/** Lines for people. Numbers stand right, words left. */
export function linesOf({ name, title, columns, rows, aims, remarks }: Report): string[] {
  const texts = rows.map((row) => row.map(cellText));
  const widths = columns.map((column, at) => Math.max(column.length, ...texts.map((row) => row[at]?.length ?? 0)));
  const isNumber = columns.map((_, at) => rows.some((row) => typeof row[at] === 'number'));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (isNumber[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return [
    `${name}: ${title}`,
    ...(rows.length === 0 ? [] : [line(columns), ...texts.map(line)]),
    ...aims.map(
      (aim) =>
        `aim: ${aim.what} ` +
        `${'atLeast' in aim.wanted ? `≥ ${cellText(aim.wanted.atLeast)}` : `≤ ${cellText(aim.wanted.atMost)}`}: ` +
        `${cellText(aim.value)} ${isMet(aim) ? 'met' : 'MISSED'}`,
    ),
    ...remarks.map((remark) => `note: ${remark}`),
  ];
}

function cellText(cell: Cell | undefined): string {
  if (typeof cell !== 'number') return cell ?? '';
  if (Number.isNaN(cell)) return '–';
  if (Number.isInteger(cell) || Math.abs(cell) >= 100) return cell.toFixed(0);
  return cell.toFixed(2);
}
