/**
 * Pictures of the dashboard for the guide: its panels in their places, with what a Prometheus answered to their
 * expressions. Drawn by attributes alone: the guide's content policy lets no style through.
 */

export interface DashboardPanel {
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: { defaults: { unit: string } };
  targets?: readonly { expr: string; legendFormat: string }[];
}

/** One line of a panel. */
export interface DrawnSeries {
  name: string;
  points: readonly (readonly [seconds: number, value: number])[];
}

/** What the targets of a panel answered. */
export type FiguresOf = (panel: DashboardPanel) => readonly DrawnSeries[];

/** Pixels of a column and of a row of the dashboard's grid. */
const COLUMN = 50;
const ROW = 26;
const GAP = 4;
const MARGIN = { left: 58, right: 12, top: 30, bottom: 44 };
const LEGEND_MAX = 5;
const COLOURS = ['#3a78c2', '#d9822b', '#2f9e6e', '#b84a8f', '#8a6d3b', '#6a5acd', '#c23b3b', '#5f7f8f'];

/** A picture of these panels, which stand below each other as in the dashboard. */
export function dashboardPicture(panels: readonly DashboardPanel[], figuresOf: FiguresOf): string {
  const from = Math.min(...panels.map(({ gridPos }) => gridPos.y));
  const rows = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h)) - from;
  const [width, height] = [24 * COLUMN, rows * ROW];
  const drawn = panels.map((panel) => {
    const { x, y } = panel.gridPos;
    return `<g transform="translate(${x * COLUMN} ${(y - from) * ROW})">${drawPanel(panel, figuresOf(panel))}</g>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
    `font-family="sans-serif" font-size="12">\n<rect width="${width}" height="${height}" fill="#f4f5f7"/>\n` +
    `${drawn.join('\n')}\n</svg>\n`
  );
}

function drawPanel({ type, title, gridPos, fieldConfig }: DashboardPanel, series: readonly DrawnSeries[]): string {
  const [width, height] = [gridPos.w * COLUMN - GAP, gridPos.h * ROW - GAP];
  if (type === 'row') return text(title, { x: 8, y: 18, size: 14, weight: 'bold' });
  const unit = fieldConfig?.defaults.unit ?? 'short';
  const inside =
    type === 'stat'
      ? drawNumber(series, unit, { width, height })
      : type === 'table'
        ? drawTable(series, height)
        : drawLines(series, unit, { width, height });
  return (
    `<rect width="${width}" height="${height}" rx="3" fill="#ffffff" stroke="#d5d9e0"/>` +
    `${text(title, { x: 10, y: 19, weight: 'bold' })}${inside}`
  );
}

interface Size {
  width: number;
  height: number;
}

function drawNumber(series: readonly DrawnSeries[], unit: string, { width, height }: Size): string {
  const value = series[0]?.points.at(-1)?.[1];
  const shown = value === undefined ? 'no data' : formatValue(value, unit);
  return text(shown, { x: width / 2, y: height / 2 + 22, size: 26, anchor: 'middle' });
}

function drawTable(series: readonly DrawnSeries[], height: number): string {
  const shown = series.slice(0, Math.floor((height - MARGIN.top) / 20));
  if (shown.length === 0) return text('none', { x: 10, y: MARGIN.top + 16 });
  return shown.map(({ name }, at) => text(name, { x: 10, y: MARGIN.top + 16 + at * 20 })).join('');
}

function drawLines(series: readonly DrawnSeries[], unit: string, { width, height }: Size): string {
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return text('no data', { x: width / 2, y: height / 2, anchor: 'middle' });
  const highest = Math.max(...points.map(([, value]) => value));
  const max = highest > 0 ? highest * 1.1 : 1;
  const times = points.map(([seconds]) => seconds);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const [bottom, right] = [height - MARGIN.bottom, width - MARGIN.right];
  const x = (seconds: number): number =>
    MARGIN.left + ((right - MARGIN.left) * (seconds - first)) / Math.max(1, last - first);
  const y = (value: number): number => bottom - ((bottom - MARGIN.top) * value) / max;
  const grid = [0, 0.5, 1].map((share) => {
    const at = y(max * share).toFixed(1);
    return (
      `<line x1="${MARGIN.left}" x2="${right}" y1="${at}" y2="${at}" stroke="#e6e9ee"/>` +
      text(formatValue(max * share, unit), { x: MARGIN.left - 6, y: Number(at) + 4, size: 10, anchor: 'end' })
    );
  });
  const lines = series.map(({ points: own }, at) => {
    const path = own.map(([seconds, value]) => `${x(seconds).toFixed(0)},${y(value).toFixed(1)}`).join(' ');
    return `<polyline points="${path}" fill="none" stroke="${colourOf(at)}" stroke-width="1.5"/>`;
  });
  return grid.join('') + lines.join('') + drawLegend(series, { width, height });
}

function drawLegend(series: readonly DrawnSeries[], { width, height }: Size): string {
  const shown = series.slice(0, LEGEND_MAX);
  const each = (width - 20) / Math.max(3, shown.length);
  const names = shown.map(({ name }, at) => {
    const x = 10 + at * each;
    const label = name.length * 6 > each - 16 ? `${name.slice(0, Math.floor(each / 6) - 3)}…` : name;
    return (
      `<rect x="${x.toFixed(0)}" y="${height - 18}" width="8" height="8" fill="${colourOf(at)}"/>` +
      text(label, { x: x + 12, y: height - 10, size: 10 })
    );
  });
  return names.join('');
}

const colourOf = (at: number): string => COLOURS[at % COLOURS.length] ?? '#000000';

interface TextOptions {
  x: number;
  y: number;
  size?: number;
  weight?: string;
  anchor?: string;
}

function text(words: string, { x, y, size = 12, weight = 'normal', anchor = 'start' }: TextOptions): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return (
    `<text x="${x.toFixed(0)}" y="${y.toFixed(0)}" font-size="${size}" font-weight="${weight}" ` +
    `text-anchor="${anchor}" fill="#2b3340">${escaped}</text>`
  );
}

/** Steps of a thousand, or of 1,024, and what they are called. */
const STEPS = ['', 'K', 'M', 'G', 'T'];

function formatValue(value: number, unit: string): string {
  if (unit === 's') return formatSeconds(value);
  if (unit === 'percentunit') return `${rounded(value * 100)} %`;
  const base = unit === 'bytes' ? 1_024 : 1_000;
  const step = Math.abs(value) < base ? 0 : Math.min(STEPS.length - 1, Math.floor(Math.log(value) / Math.log(base)));
  const number = `${rounded(value / base ** step)}${step > 0 || unit === 'bytes' ? ` ${STEPS[step] ?? ''}` : ''}`;
  if (unit === 'bytes') return `${number}B`;
  return unit === 'reqps' || unit === 'ops' ? `${number}/s` : number;
}

function formatSeconds(value: number): string {
  if (value >= 60) return `${rounded(value / 60)} min`;
  return value >= 1 || value === 0 ? `${rounded(value)} s` : `${rounded(value * 1_000)} ms`;
}

const rounded = (value: number): string => String(Number(value.toPrecision(2)));
