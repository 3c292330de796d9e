/**
 * How the name that somebody chose becomes a slug: on dashboard factories no file name says it. contract §1.3, §8.1.
 */
import { isValidName } from './definition-paths.ts';

/** Characters of a slug: what a file name of a definition may have. */
const SLUG_LENGTH_MAX = 63;

/** Marks that stand over or under a letter once it is taken apart. */
const MARKS = /\p{M}+/gu;

/**
 * The slug of a new object's first name, unlike any that is taken: `Orders (EU)` → `orders-eu`, then `orders-eu-2`. A
 * name without a usable letter is called after its kind.
 */
export function slugOf(name: string, kind: 'webhook' | 'automation', used: ReadonlySet<string>): string {
  const plain = name
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const slug = cut(plain, SLUG_LENGTH_MAX);
  const first = isValidName(slug) ? slug : kind;
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? '' : `-${count}`;
    const candidate = cut(first, SLUG_LENGTH_MAX - suffix.length) + suffix;
    if (!used.has(candidate)) return candidate;
  }
}

/** What the secret of a webhook is called when nobody says: names of secrets begin with a letter. */
export function suggestedSecretName(slug: string): string {
  return /^[a-z]/.test(slug) ? `${slug}-webhook` : `webhook-${slug}`;
}

function cut(text: string, length: number): string {
  return text.replace(/^-+/, '').slice(0, length).replace(/-+$/, '');
}
