/** Which characters of a markdown text are shown as they are written, because they stand in code. */

/** What makes the rest of a text raw HTML, whatever looks like code in it. */
const RAW_HTML = /<(?:script|pre|style|textarea)\b|<!\[CDATA\[|<\?/i;
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;

/** Beyond these nobody looks for code: texts of any length are judged in little time. */
const PARAGRAPH_LINES_MAX = 20;
const LINE_LENGTH_MAX = 500;

/**
 * Whether readers of the rendered text see what stands at this index: in a fenced block or a code span of one line.
 * Where readers of markdown could differ (fences in lists, raw HTML around it), the answer is no.
 */
export function isShownCode(text: string, index: number): boolean {
  if (RAW_HTML.test(text.slice(0, index))) return false;
  const lineStart = text.lastIndexOf('\n', index - 1) + 1;
  const before = text.slice(0, lineStart).split('\n').slice(0, -1);
  return isInFence(before) || isInSpan(before, text, lineStart, index);
}

/** A fence that stands at the margin behind an empty line, and has no end yet. */
function isInFence(lines: readonly string[]): boolean {
  let open: string | undefined;
  for (const [index, line] of lines.entries()) {
    const mark = FENCE.exec(line)?.[1];
    if (open === undefined) {
      if (mark !== undefined && isEmpty(lines[index - 1])) open = mark;
    } else if (mark?.startsWith(open) && line.trimEnd() === mark) open = undefined;
  }
  return open !== undefined;
}

/** A list or a heading could begin the paragraph anew in any of its lines: all have to say the same. */
function isInSpan(before: readonly string[], text: string, lineStart: number, index: number): boolean {
  const newline = text.indexOf('\n', index);
  const line = text.slice(lineStart, newline === -1 ? text.length : newline);
  const paragraph = before.slice(before.findLastIndex(isEmpty) + 1);
  if (paragraph.length > PARAGRAPH_LINES_MAX || [...paragraph, line].some(({ length }) => length > LINE_LENGTH_MAX))
    return false;
  if (/<[A-Za-z/!?]/.test(paragraph.join('\n').replace(/`<!--`/g, ''))) return false;
  if (/<[A-Za-z/?]/.test(line.slice(0, index - lineStart))) return false;
  return [...paragraph.keys(), paragraph.length].every((from) => {
    const head = paragraph.slice(from).map((each) => `${each}\n`);
    return isInSpanOf(head.join('') + line, head.join('').length + index - lineStart);
  });
}

/** Runs of backticks pair with the next of the same length. */
function isInSpanOf(text: string, index: number): boolean {
  const runs = [...text.matchAll(/\\[^`]|(?:\\)?(`+)/g)].flatMap(({ index: at, 0: all, 1: run = '' }) => {
    const start = at + all.length - run.length;
    return run === '' ? [] : [{ start, length: run.length, isEscaped: all !== run }];
  });
  for (let at = 0; at < runs.length;) {
    const { start, length, isEscaped } = runs[at] as (typeof runs)[number];
    if (start > index) return false;
    // An escaped backtick opens nothing, and those behind it could: no two readers agree, so nothing is shown.
    if (isEscaped) return false;
    const close = runs.findIndex((run, number) => number > at && run.length === length);
    if (close !== -1 && (runs[close]?.start ?? 0) > index) return true;
    at = close === -1 ? at + 1 : close + 1;
  }
  return false;
}

function isEmpty(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}
