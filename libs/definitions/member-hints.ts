/** Which member of a request was meant by one that nothing knows. contract §3.10 (Unknown members). */
import { foldLookAlikes, lookAlikeWords } from '#filters';
import type { SchemaError } from '#contracts';
import { nearest, WORD_CHARACTERS_MAX } from './suggest.ts';

/** What definition files call differently: key of the file → member of the request. */
const OF_FILES: Readonly<Record<string, string>> = { filter: 'payload', schedule: 'cron' };

/** Known members that one message lists. */
const LISTED_MAX = 12;

/** `; did you mean "x"?`, else what is known where that is little, behind the message about an unknown member. */
export function memberHint({ kind, found, candidates = [], inner = [] }: SchemaError): string {
  if (kind !== 'unknown-key' || found === undefined) return '';
  const meant = memberMeant(found, candidates, inner);
  if (meant !== undefined) return `${lookAlikeWords(found)}; did you mean ${JSON.stringify(meant)}?`;
  if (candidates.length === 0 || candidates.length > LISTED_MAX) return '';
  return `; expected ${candidates.length === 1 ? '' : 'one of '}${candidates.join(', ')}`;
}

/**
 * The member that stands for the same in another spelling, is near, or begins with the same word; else one inside a
 * known member.
 */
function memberMeant(found: string, candidates: readonly string[], inner: readonly string[]): string | undefined {
  if (found.length > WORD_CHARACTERS_MAX) return undefined;
  const word = foldLookAlikes(toSnakeCase(found));
  const ofFile = Object.hasOwn(OF_FILES, word) ? OF_FILES[word] : undefined;
  return (
    candidates.find((candidate) => singular(candidate) === singular(word)) ??
    nearest(word, candidates) ??
    candidates.find((candidate) => candidate === ofFile) ??
    candidates.find((candidate) => stem(candidate) === stem(word)) ??
    inner.find((path) => stem(path.slice(path.indexOf('.') + 1)) === stem(word))
  );
}

/** As members are spelt: `authMode`, `auth-mode` → `auth_mode`. */
function toSnakeCase(word: string): string {
  return word.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('-', '_');
}

function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/s$/, '');
}

/** What a member is about: `webhook_uids` and `webhooks` → `webhook`. */
function stem(word: string): string {
  return singular(word.replace(/_(?:uids?|ids?|spec)$/, ''));
}
