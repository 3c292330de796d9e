/** Which texts look like credentials that somebody has written down. */

/** Beginnings that makers of credentials give them. */
const KNOWN = new RegExp(
  [
    String.raw`gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{15,}|xox[abeprs]-[\w-]{10,}|xapp-[\w-]{10,}`,
    String.raw`sk-[\w-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|(?:sk|rk|pk)_(?:live|test)_\w{10,}`,
    String.raw`npm_[A-Za-z0-9]{30,}|pypi-[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}|dop_v1_[0-9a-f]{20,}|SG\.[\w-]{10,}`,
    String.raw`hf_[A-Za-z0-9]{20,}|mw_[\w-]{40,}|-----BEGIN`,
  ]
    .map((line) => `^(?:${line})`)
    .join('|'),
);

const CREDENTIAL_NAME = /token|secret|passw|api[-_]?key|auth|credential|private[-_]?key|cookie/i;

/** Characters from which on a value behind such a name is taken for one: shorter ones are words. */
const NAMED_LENGTH_MIN = 16;

/** Whether the value of a key (empty: none) is a credential itself and not the name of one. */
export function isCredentialText(key: string, value: string): boolean {
  const word = value.replace(/^(?:Bearer|Basic|Token|token)\s+/, '').trim();
  if (KNOWN.test(word)) return true;
  if (!CREDENTIAL_NAME.test(key) || word.length < NAMED_LENGTH_MIN || /\$\{|\s/.test(word)) return false;
  return /[0-9]/.test(word) && /[A-Za-z]/.test(word) && !/^(?:https?:|\/)/.test(word);
}
