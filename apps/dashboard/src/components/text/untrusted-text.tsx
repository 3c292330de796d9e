/** Text of senders, repositories and agents: plain text with invisible and bidirectional characters shown. */
import { piecesOf } from './hidden-characters.ts';

/** The text with hidden characters as `U+202E`. */
export function UntrustedText({ children }: { children: string }) {
  return (
    <span className="foreign">
      {piecesOf(children).map(({ at, text, isHidden }) =>
        isHidden ? (
          <span key={at} className="escaped">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </span>
  );
}
