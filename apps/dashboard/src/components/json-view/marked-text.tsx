/** Foreign text with what somebody looks for marked. */
import { Fragment } from 'react';
import { ForeignText } from '../text/untrusted-text.tsx';
import { finderOf } from './rows.ts';

export function MarkedText({ text, wanted }: { text: string; wanted: string }) {
  const finder = finderOf(wanted);
  if (finder === undefined || text.search(finder) < 0) return <ForeignText>{text}</ForeignText>;
  let end = 0;
  return (
    <>
      {[...text.matchAll(finder)].map(({ 0: match, index }) => {
        const before = text.slice(end, index);
        end = index + match.length;
        return (
          <Fragment key={index}>
            {before !== '' && <ForeignText>{before}</ForeignText>}
            <mark>
              <ForeignText>{match}</ForeignText>
            </mark>
          </Fragment>
        );
      })}
      {end < text.length && <ForeignText>{text.slice(end)}</ForeignText>}
    </>
  );
}
