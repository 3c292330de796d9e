/**
 * Open pull requests below a status: what each would do, and how its forge answers; and the merged ones that a revision
 * goes back to. contract §9.9, §11.
 */
import type { MergedPullRequest, PullRequestList } from '#client';
import { toSeconds, type Colour, type Output } from '../terminal/output.ts';

const COLOURS: Readonly<Record<string, Colour>> = { success: 'green', failure: 'red', error: 'red', pending: 'yellow' };

/** A table of them, and a line where the forge takes nothing. */
export function printPullRequests(
  output: Output,
  { pull_requests: pulls, forge, page_info: page }: PullRequestList,
): void {
  output.line('');
  if (forge?.fault != null) {
    const retry = forge.retry_at === null ? '' : `; asked again at ${toSeconds(forge.retry_at)}`;
    const waiting = forge.waiting === 0 ? '' : ` (${forge.waiting} wait to be posted)`;
    output.line(`${forge.kind}: ${forge.fault}: ${forge.message ?? ''}${retry}${waiting}`, 'yellow');
  }
  if (pulls.length === 0) return output.line('no open pull requests');
  output.table(
    ['PULL REQUEST', 'VERDICT', 'HEAD', 'TITLE', 'SAYS'],
    pulls.map(({ number, verdict, posted, head, title, fork, description }) => [
      `#${number}${fork ? ' (fork)' : ''}`,
      { text: posted || verdict === 'pending' ? verdict : `${verdict} (not posted)`, colour: COLOURS[verdict] },
      head.slice(0, 12),
      title,
      description,
    ]),
    4,
  );
  if (page.has_next_page) output.note('there are more of them: GET /factory/{uid}/pull-requests');
}

/** Pull requests that are named in one line; the JSON has all. */
const NAMED_MAX = 3;
/** Characters of a title that stand in a line beside other things. */
const TITLE_CHARACTERS_MAX = 60;

/** Which ones, with title and author; empty for none. Of several each may have brought it. */
export function mergedWords(merged: readonly MergedPullRequest[] | null | undefined): string {
  if (merged === null || merged === undefined || merged.length === 0) return '';
  const named = merged.slice(0, NAMED_MAX).map(({ number, title, author }) => {
    const characters = [...title];
    const cut = characters.length > TITLE_CHARACTERS_MAX;
    const short = cut ? `${characters.slice(0, TITLE_CHARACTERS_MAX).join('')}…` : title;
    return `#${number} “${short}” by ${author}`;
  });
  const more = merged.length > NAMED_MAX ? `, and ${merged.length - NAMED_MAX} more` : '';
  return `pull request${merged.length === 1 ? '' : 's'} ${named.join(', ')}${more}`;
}
