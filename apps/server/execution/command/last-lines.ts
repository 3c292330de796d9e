/** The end of what a command has written, for the message that says why it failed. */

/** Lines and characters of it: what fits under a run's state. */
const LINES_MAX = 10;
const CHARACTERS_MAX = 2_000;

export interface LastLines {
  take(text: string): void;
  /** Without empty lines at its end; empty when nothing was written. */
  text(): string;
}

export function lastLines(): LastLines {
  let kept = '';
  return {
    take: (text) => {
      kept = `${kept}${text}`.slice(-CHARACTERS_MAX);
    },
    text: () => kept.trimEnd().split('\n').slice(-LINES_MAX).join('\n'),
  };
}
