/** Text of senders, repositories and agents: always text, with invisible and reordering characters made visible. */
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
