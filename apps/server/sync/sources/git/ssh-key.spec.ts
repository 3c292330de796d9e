/** Private keys as people paste them. */
import { readSshKey } from './git-keyring.ts';

const openssh = (cipher: string): string =>
  pem(
    'OPENSSH',
    Buffer.from(
      `openssh-key-v1\0\0\0\0${String.fromCharCode(cipher.length)}${cipher}\0\0\0\u0004none`,
      'latin1',
    ).toString('base64'),
  );
const PLAIN = openssh('none');

function pem(kind: string, body: string): string {
  const name = kind === '' ? 'PRIVATE KEY' : `${kind} PRIVATE KEY`;
  return `-----BEGIN ${name}-----\n${body}\n-----END ${name}-----\n`;
}

describe('a private key', () => {
  it.each([
    [PLAIN, 'as ssh-keygen writes it'],
    [PLAIN.trimEnd(), 'without the last line end, which ssh insists on'],
    [PLAIN.replaceAll('\n', '\r\n'), 'from an editor that ends lines with CR LF'],
    [PLAIN.replaceAll('\n', '\r'), 'or with CR'],
    [`\n\n  ${PLAIN}\n\n`, 'with space around it'],
  ])('%j is read: %s', (value) => {
    expect(readSshKey(value)).toEqual({ ok: true, text: PLAIN });
  });

  it.each([
    [pem('RSA', 'MIIE'), 'older kinds'],
    [pem('', 'MC4C'), 'PKCS#8'],
  ])('%j is read: %s', (value) => {
    expect(readSshKey(value)).toEqual({ ok: true, text: value });
  });

  it.each([
    [openssh('aes256-ctr'), 'passphrase'],
    [pem('ENCRYPTED', 'MIIF'), 'passphrase'],
    [pem('RSA', 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMIIE'), 'passphrase'],
    ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@example.com', 'public key'],
    [PLAIN.slice(0, 60), 'a part'],
    ['ghp_token-for-https', 'no private key'],
  ])('%j is refused: %s', (value, words) => {
    const reading = readSshKey(value);
    expect(reading).toMatchObject({ ok: false, reason: expect.stringContaining(words) });
    expect(JSON.stringify(reading)).not.toContain(value.trim().slice(-24));
  });
});
