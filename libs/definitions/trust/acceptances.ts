/** What files accept of the rules of trust, with a reason and until a day. contract §8.5 (Trust). */
import { didYouMean } from '../suggest.ts';
import { RULES } from '../rules/rules.ts';
import type { Problem, WrittenDefinitions } from '../types.ts';
import type { TrustAcceptance } from './trust-acceptance.ts';
import { find, type TrustReview } from './review.ts';

/** An acceptance where it stands. */
interface WrittenAcceptance {
  acceptance: TrustAcceptance;
  /** The file that says it, and the one that it is about. */
  path: string;
  target: string;
  pointer: string;
}

/** Rules that nothing can accept: they are about acceptances. */
const ABOUT_ACCEPTANCES = /^trust-acceptance-/;

/** Whoever accepts this has to be named. */
const APPROVED_BY_NAME = 'trust-exposed-run';

/**
 * The problems that no acceptance covers, and those that acceptances have themselves. `today`: a day as 2027-01-31;
 * undefined: no acceptance ends. `isWhole`: everything was looked at, so that what covers nothing can be told.
 */
export function unaccepted(review: TrustReview, today: string | undefined, isWhole: boolean): Problem[] {
  const acceptances = acceptancesOf(review.reading.definitions);
  const problems = [...review.found.values()];
  if (acceptances.length === 0) return problems;
  const covered = new Set<Problem>();
  const own: TrustReview = { ...review, found: new Map() };
  for (const written of acceptances) {
    const found = problems.filter(({ rule, path }) => rule === written.acceptance.accept && path === written.target);
    if (isEffective(own, written, { count: found.length, today, isWhole }))
      for (const problem of found) covered.add(problem);
  }
  return [...problems.filter((problem) => !covered.has(problem)), ...own.found.values()];
}

function isEffective(
  review: TrustReview,
  { acceptance: { accept, until, approvedBy }, path, pointer }: WrittenAcceptance,
  { count, today, isWhole }: { count: number; today: string | undefined; isWhole: boolean },
): boolean {
  if (!isDay(until) || (today !== undefined && until < today)) {
    const message = isDay(until)
      ? `what was accepted until ${until} is told again; look at it anew, then set another day or mend it`
      : `${until} is no day of the calendar; write one as 2027-01-31`;
    find(review, { path, pointer: `${pointer}/until` }, 'trust-acceptance-expired', message);
    return false;
  }
  if (accept === APPROVED_BY_NAME && approvedBy === undefined) {
    const message = `${accept} is accepted by somebody only: add approvedBy with a name and a role (admin or manager)`;
    find(review, { path, pointer }, 'trust-acceptance-unapproved', message);
    return false;
  }
  if (count === 0 && isWhole) {
    const ids = Object.keys(RULES).filter((id) => id.startsWith('trust-') && !ABOUT_ACCEPTANCES.test(id));
    const message = ids.includes(accept)
      ? `nothing here breaks ${accept} any more; remove the entry, so that it hides nothing later`
      : `${accept} is no rule of trust${didYouMean(accept, ids)}`;
    find(review, { path, pointer: `${pointer}/accept` }, 'trust-acceptance-unused', message);
  }
  return true;
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function acceptancesOf({ factory, webhooks, automations, environments }: WrittenDefinitions): WrittenAcceptance[] {
  const files = [{ path: 'factory.yaml', trust: factory.trust }, ...webhooks, ...automations, ...environments];
  return files.flatMap(({ path, trust = [] }) =>
    trust.map((acceptance, index) => ({
      acceptance,
      path,
      target: acceptance.path ?? path,
      pointer: `/trust/${index}`,
    })),
  );
}
