/** Foreign text with what somebody looks for marked. */
import { Fragment } from 'react';
import { UntrustedText } from '../text/untrusted-text.tsx';
import { finderOf } from './rows.ts';

export function MarkedText({ text, wanted }: { text: string; wanted: string }) {
  const finder = finderOf(wanted);
  if (finder === undefined || text.search(finder) < 0) return <UntrustedText>{text}</UntrustedText>;
  let end = 0;
  return (
    <>
      {[...text.matchAll(finder)].map(({ 0: match, index }) => {
        const before = text.slice(end, index);
        end = index + match.length;
        return (
          <Fragment key={index}>
            {before !== '' && <UntrustedText>{before}</UntrustedText>}
            <mark>
              <UntrustedText>{match}</UntrustedText>
            </mark>
          </Fragment>
        );
      })}
      {end < text.length && <UntrustedText>{text.slice(end)}</UntrustedText>}
    </>
  );
}
