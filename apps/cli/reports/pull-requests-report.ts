/** Open pull requests below a status: what each would do, and how its forge answers. contract §9.9, §11. */
import type { PullRequestList } from '#client';
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
