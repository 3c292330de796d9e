/** Short lines for people on stderr; stdout belongs to the protocol. */

/** Characters of one line: enough for a sentence, too little for a payload that slipped into a library's message. */
const LINE_LENGTH_MAX = 300;

/** Writes one line to stderr. Never give it anything of a prompt, a file, a tool's output or a credential. */
export function say(text: string): void {
  process.stderr.write(`millwright-agent: ${oneLine(text, LINE_LENGTH_MAX)}\n`);
}

/** Text on one line, without control characters, cut to a length. */
export function oneLine(text: string, lengthMax: number): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`;
}

/**
 * Sends what libraries print to stderr, first words only: their arguments may hold what they were given, and stdout is
 * the protocol.
 */
export function captureConsole(): void {
  const capture = (first: unknown): void => {
    if (typeof first === 'string') say(first);
  };
  for (const name of ['log', 'info', 'debug', 'warn', 'error', 'trace'] as const) console[name] = capture;
}
