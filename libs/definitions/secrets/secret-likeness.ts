/**
 * Which texts look like the value of a secret, and stand where its name should. contract §8.4 (value of a secret).
 */

/** How keys and tokens of known issuers begin, and how long what follows is. */
const ISSUED: readonly (readonly [form: RegExp, issuer: string])[] = [
  [/^gh[pousr]_[A-Za-z0-9]{20,}|^github_pat_\w{20,}/, 'a GitHub token'],
  [/^gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|sa)-[\w-]{16,}/, 'a GitLab token'],
  [/^xox[a-z]-[\w-]{10,}|^xapp-[\w-]{10,}/, 'a Slack token'],
  [/^sk-ant-[\w-]{16,}/, 'an Anthropic API key'],
  [/^sk-(?:proj-|or-v1-)?[A-Za-z0-9_-]{20,}/, 'an API key of a model'],
  [/^[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}/, 'a Stripe key'],
  [/^whsec_[A-Za-z0-9+/=_-]{16,}/, 'a signing secret'],
  [/^(?:AKIA|ASIA)[A-Z0-9]{16}$/, 'an AWS access key'],
  [/^AIza[\w-]{30,}|^ya29\.[\w-]{16,}|^GOCSPX-[\w-]{16,}/, 'a Google key'],
  [/^npm_[A-Za-z0-9]{30,}/, 'an npm token'],
  [/^pypi-Ag[\w-]{30,}/, 'a PyPI token'],
  [/^hf_[A-Za-z0-9]{20,}/, 'a Hugging Face token'],
  [/^mw_[\w-]{30,}/, 'an API key of Millwright'],
  [/^eyJ[\w-]{10,}\.[\w-]{10,}\./, 'a JSON Web Token'],
  [/^SG\.[\w-]{16,}\.[\w-]{16,}/, 'a SendGrid key'],
  [/^-----BEGIN [A-Z ]*PRIVATE KEY/, 'a private key'],
  [/^AGE-SECRET-KEY-1[A-Z0-9]{40,}/, 'an age key'],
  [/^hvs\.[\w-]{20,}/, 'a Vault token'],
];

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** A name has words: no part of it without a separator is this long and changes between letters and digits so often. */
const RANDOM_LENGTH_MIN = 20;
const CHANGES_MIN = 4;
/** Bits per character: words have less than four, random letters and digits of this length more. */
const ENTROPY_MIN = 3.4;

/** What a text looks like that names no secret: `issued` for sure; `random` where a strange name could look so too. */
export type SecretLikeness = { kind: 'issued'; what: string } | { kind: 'random' };

/** Whether a text is the value of a secret rather than its name, as far as that can be seen. */
export function secretLikeness(text: string): SecretLikeness | undefined {
  const what = ISSUED.find(([form]) => form.test(text))?.[1];
  if (what !== undefined) return { kind: 'issued', what };
  const isRandom = UUID.test(text) || text.split(/[-_.\s]/).some(isRandomPart);
  return isRandom ? { kind: 'random' } : undefined;
}

function isRandomPart(part: string): boolean {
  if (part.length < RANDOM_LENGTH_MIN) return false;
  const changes = part.match(/\d(?=\D)|\D(?=\d)/g)?.length ?? 0;
  return changes >= CHANGES_MIN && entropyOf(part) >= ENTROPY_MIN;
}

/** Shannon entropy of a text's characters, in bits for each. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}
