/** Whether a credential is a private key that ssh can use without asking anybody. Pure; no message holds any part of it. */

export type KeyReading = { ok: true; text: string } | { ok: false; reason: string };

const PEM = /^-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----\n([\s\S]+?)\n-----END \1-----$/;

/** What an OpenSSH key file begins with; the name of its cipher follows, its length in four bytes before it. */
const OPENSSH_MAGIC = 'openssh-key-v1\0';

/** The text of a key as ssh reads it: lines that end with LF, the last one too. */
export function readSshKey(value: string): KeyReading {
  const text = value.replaceAll(/\r\n?/g, '\n').trim();
  const [, kind, body] = PEM.exec(text) ?? [];
  if (kind === undefined || body === undefined) return refuse(wordsFor(text));
  if (isEncrypted(kind, body))
    return refuse(
      'it is protected by a passphrase, which nobody is there to type; store a key without one (ssh-keygen -p), for this repository only',
    );
  return { ok: true, text: `${text}\n` };
}

function wordsFor(text: string): string {
  if (/^(?:ssh-|ecdsa-|sk-)\S+ /.test(text)) return 'it is a public key; store the private one';
  return text.includes('PRIVATE KEY-----')
    ? 'a part of the private key is missing; store the whole file, from its first line to its last'
    : 'it is no private key; store the file that ssh-keygen wrote, from its first line to its last';
}

function isEncrypted(kind: string, body: string): boolean {
  if (kind === 'ENCRYPTED PRIVATE KEY' || body.includes('Proc-Type: 4,ENCRYPTED')) return true;
  const bytes = Buffer.from(body, 'base64').toString('latin1');
  return (
    kind === 'OPENSSH PRIVATE KEY' &&
    bytes.startsWith(OPENSSH_MAGIC) &&
    bytes.slice(OPENSSH_MAGIC.length + 4, OPENSSH_MAGIC.length + 8) !== 'none'
  );
}

function refuse(problem: string): KeyReading {
  return { ok: false, reason: `the credential of the repository cannot be used for ssh: ${problem}` };
}
