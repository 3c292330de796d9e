/**
 * Knows which texts of a file may be shown because they cannot be secrets: short words, names, small numbers,
 * expressions of ours. Everything else is left out. contract §2.1 (never a value).
 */
import { SIGNATURE_SCHEMES } from '#authentication/schemes';

/** What stands in place of what is left out. */
export const MASK = '•••';

/** What a value says, as far as it may be shown. */
export type ValueKind =
  | 'word'
  | 'number'
  | 'name'
  | 'secret-name'
  | 'label'
  | 'model'
  | 'path'
  | 'uid'
  | 'cron'
  | 'prose'
  | 'payload'
  | 'unknown'
  | 'secret';

/** Values of enums, booleans and the like: shown wherever they stand. */
const VOCABULARY: ReadonlySet<string> = new Set([
  '',
  '~',
  'true',
  'false',
  'null',
  'yes',
  'no',
  'on',
  'off',
  'token',
  'url_token',
  'signature',
  ...SIGNATURE_SCHEMES.keys(),
  'queue',
  'skip',
  'replace',
  'atomic',
  'perfile',
  'webhook',
  'schedule',
  'received',
  'cron_fired',
]);
/** Letters as words have them; their number is bounded, since no word is long and keys are. */
const LETTERS = /^(?:\p{Lu}?\p{Ll}{1,18}|\p{Lu}\p{Ll}{1,12}\p{Lu}\p{Ll}{1,12}|\p{Lu}{1,14})$/u;
/** Letters that nobody can pronounce. */
const CONSONANTS = /[bcdfghjklmnpqrstvwxz]{5}/i;
/** Beginnings of tokens: whatever follows, they are no names. */
const TOKEN_BEGINS = new RegExp(
  `^(?:${[
    'gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|sa)[-_]',
    String.raw`xox[a-z]-|xapp-|sk[-_]|[rp]k_(?:live|test)_|whsec_|mw_|npm_[A-Za-z\d]{20}|pypi-Ag|hf_|dop_v1_`,
    String.raw`shp[a-z]{2}_|SG\.|AKIA|ASIA|AIza|ya29\.|eyJ|lin_api_|ntn_|hvs\.|GOCSPX-|ATATT|AGE-SECRET-`,
  ].join('|')})`,
);
/** Such as v2, k8s and 0011. */
const NUMBERED = /^[a-z]{0,3}\d{1,4}[a-z]{0,2}$/i;
/** More digits than these are no name. */
const DIGITS_MAX = 4;
const PARTS_MAX = 12;
/** One hump after another. */
const KEY_PART = /^(?:[A-Za-z]?[a-z]{0,16}|[A-Z]{2,14})(?:[A-Z][a-z]{1,12}){0,4}$/;
const KEY_LENGTH_MAX = 48;

const NUMBER = /^[-+]?(?:0x[0-9a-f]{1,8}|0o[0-7]{1,10}|\d[\d_]{0,19}(?:\.\d{0,10})?(?:e[-+]?\d{1,4})?|\.nan|\.inf)$/i;
const SMALL_NUMBER = /^[-+]?\d{1,9}(?:\.\d{0,4})?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const UID = /^(?:wh|auto|fac|env)_[0-9a-z]{26}$/;
const CRON_FIELD = /^(?:\d{1,2}|[A-Za-z]{3}|[*?])(?:[-/,](?:\d{1,2}|[A-Za-z]{3}|[*?])){0,30}$/;

/** Words that say that a secret is near, wherever they stand in a key or in a line. Rather too many than too few. */
const SECRET = new RegExp(
  [
    'pas+w|pass|pwd|secret|token|key|cred|auth|cookie|private|bearer|mnemonic|seed|phrase|signature|session|login',
    'geheim|kennwort',
    '(?<![a-z])(?:pw|pat|pin|otp|totp|mfa|sig|pem|dsn|jwt|sid|salt)(?![a-z])', // too short to be part of a word
  ].join('|'),
  'i',
);

/** Whether something is said to be a secret, or to hold one. */
export function isSecretLike(text: string): boolean {
  return SECRET.test(text) || /(?:Pw|Pat|Pin|Otp|Sig)(?![a-z])/.test(text);
}

/** Whether a key may be shown: it is made of words. */
export function isHarmlessKey(key: string): boolean {
  return (
    key === '<<' ||
    (key.length <= KEY_LENGTH_MAX && key.split(/[-_./ $]/).every((part) => KEY_PART.test(part) || NUMBERED.test(part)))
  );
}

/** Whether a value of this kind may be shown. */
export function isHarmless(kind: ValueKind, text: string): boolean {
  return kind !== 'secret' && (VOCABULARY.has(text.toLowerCase()) || FORMS[kind](text));
}

const FORMS: Readonly<Record<ValueKind, (text: string) => boolean>> = {
  word: (text) => areWords(text, /[-_]/, 24),
  number: (text) => SMALL_NUMBER.test(text) || /^[a-z]{1,8}$/.test(text),
  name: isName,
  'secret-name': isSecretName,
  label: isName,
  model: (text) => areWords(text.replace(/-20\d{6}(?!\d)/, ''), /[-_./:]/, 80),
  path: (text) => areWords(text.replace(/^(?:https:\/\/|ssh:\/\/git@)/, ''), /[-_./:~#*]/, 120),
  uid: (text) => UID.test(text) || isName(text),
  cron: (text) => /^@[a-z]{1,12}$/.test(text) || isCron(text.split(' ')),
  prose: () => false,
  payload: (text) => NUMBER.test(text) || DATE.test(text) || areWords(text, /[-_./: ]/, 60),
  unknown: () => false,
  secret: () => false,
};

/** A few words: who leaves a hyphen out shall see it. */
function isName(text: string): boolean {
  return areWords(text, /[-_. ]/, 64) && text.split(' ').length <= 3;
}

/** Stricter: people paste the secret itself here. */
function isSecretName(text: string): boolean {
  return (
    isName(text) &&
    text.length <= 40 &&
    text.replace(/\D/g, '').length <= 2 &&
    (text === text.toLowerCase() || text === text.toUpperCase())
  );
}

function isCron(fields: readonly string[]): boolean {
  return fields.length <= 7 && fields.every((field) => CRON_FIELD.test(field));
}

function areWords(text: string, separators: RegExp, lengthMax: number): boolean {
  if (text.length > lengthMax || TOKEN_BEGINS.test(text) || text.replace(/\D/g, '').length > DIGITS_MAX) return false;
  const parts = text.split(separators);
  return (
    parts.length <= PARTS_MAX &&
    parts.every((part) => part === '' || NUMBERED.test(part) || (LETTERS.test(part) && !CONSONANTS.test(part)))
  );
}

/**
 * Text for people without what is no plain word; all of it is left out where something in it or near it speaks of
 * secrets.
 */
export function maskedProse(text: string, isNearSecret: boolean): string {
  const [lead = ''] = /^\s*(?:[-#>*]{1,6}\s+)?/.exec(text) ?? [];
  const rest = text.slice(lead.length);
  if (rest.trim() === '') return text;
  if (isNearSecret || isSecretLike(text)) return lead + MASK;
  return lead + rest.replace(/\S+/g, (word) => (isPlainWord(word) ? word : MASK)).replace(/•••(?:\s+•••)+/g, MASK);
}

/** A word of a sentence with the punctuation around it, a file's name, or punctuation alone. */
function isPlainWord(word: string): boolean {
  if (/^[-*_#>|.:,;()`'"=+]{1,12}$/.test(word)) return true;
  const core = /^[-("'`*_[>#/]{0,4}([\p{L}\d][\p{L}\d'’./-]{0,39}?)[)"'`*_\].,;:!?/]{0,4}$/u.exec(word)?.[1];
  if (core === undefined || TOKEN_BEGINS.test(core)) return false;
  return /^\d{1,2}$/.test(core) || (!/\d/.test(core) && areWords(core.replace(/\.[A-Za-z]{1,4}$/, ''), /[-/'’]/, 40));
}
