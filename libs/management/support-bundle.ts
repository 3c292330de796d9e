/** What a support bundle may hold: members that are chosen by name, and a scan of all of it before it is written. */
import { holdsSecret } from '#isolation';

/** A file of the bundle. */
export interface BundleFile {
  name: string;
  text: string;
}

/** A value that must be nowhere in the bundle, and what it is called. */
export interface KnownSecret {
  name: string;
  value: string;
}

/** Something in the bundle that must not leave the machine. Says where and what it looks like, never the text. */
export interface BundleFinding {
  file: string;
  line: number;
  what: string;
}

/** Findings that are told; more of them say nothing new. */
export const BUNDLE_FINDINGS_MAX = 20;

/** Forms of credentials that their issuers describe, and our own. Each needs enough characters to be none by chance. */
const SHAPES: readonly (readonly [what: string, shape: RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY|AGE-SECRET-KEY-1[A-Z0-9]{20}/],
  ['an API key of a service like this', /\bmw_[A-Za-z0-9_-]{16,}/],
  ['a token of GitHub', /\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/],
  ['a token of GitLab', /\bglpat-[A-Za-z0-9_-]{16,}/],
  ['an access key of AWS', /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/],
  ['a token of Slack', /\bxox[abeprs]-[A-Za-z0-9-]{10,}/],
  ['a secret of a signature scheme', /\bwhsec_[A-Za-z0-9+/=_-]{16,}/],
  [
    'a key of a payment or model provider',
    /\b(?:sk|rk)[-_](?:live|test|ant|proj)[-_][A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{32,}/,
  ],
  ['a signed token (JWT)', /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/],
  ['credentials of a header', /\b(?:Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{16,}/i],
  ['an address with a password', /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:"]*:[^\s/@"]+@/i],
];

/** Members that senders, requests and models fill. */
const PAYLOAD = /"(?:authorization|body|cookie|headers|password|payload|prompt|set-cookie|signature)"\s*:/i;

/** Everything that must not be in the bundle, file by file, at most BUNDLE_FINDINGS_MAX. contract §11.7. */
export function scanBundle(files: readonly BundleFile[], secrets: readonly KnownSecret[]): BundleFinding[] {
  const findings = files.flatMap(({ name: file, text }) =>
    text.split('\n').flatMap((line, index) => whatIsIn(line, secrets).map((what) => ({ file, line: index + 1, what }))),
  );
  // A value may go over several lines.
  const spread = files.flatMap(({ name: file, text }) =>
    secrets
      .filter(({ value }) => holdsSecret(text, [value]))
      .filter(({ name }) => !findings.some((found) => found.file === file && found.what === known(name)))
      .map(({ name }) => ({ file, line: 1, what: known(name) })),
  );
  return [...findings, ...spread].slice(0, BUNDLE_FINDINGS_MAX);
}

function whatIsIn(line: string, secrets: readonly KnownSecret[]): string[] {
  return [
    ...secrets.filter(({ value }) => holdsSecret(line, [value])).map(({ name }) => known(name)),
    ...SHAPES.filter(([, shape]) => shape.test(line)).map(([what]) => what),
    ...(PAYLOAD.test(line) ? ['a member that holds what senders, requests or models write'] : []),
  ];
}

function known(name: string): string {
  return `the value of ${name}`;
}

/** Lines of the service's own log: what is no such line is left out, because nobody knows what is in it. */
export function logLines(text: string): { lines: string[]; leftOut: number } {
  const written = text.split('\n').filter((line) => line.trim() !== '');
  const lines = written.filter(isLogLine);
  return { lines, leftOut: written.length - lines.length };
}

const LEVELS = new Set(['info', 'warn', 'error']);

/** As the service writes them: time, level, message, and members without any structure of their own. */
function isLogLine(line: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return false;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { at, level, message } = value as Record<string, unknown>;
  if (typeof at !== 'string' || typeof message !== 'string' || !LEVELS.has(String(level))) return false;
  return Object.values(value).every((member) => typeof member !== 'object' || member === null);
}

/** Of an object, the members of these names that it has. */
export function chosen(value: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}
