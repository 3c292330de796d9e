/** Which public keys a sync policy may name, and that nothing else gets in with them. */
import { commitKeyProblem, readCommitKey } from './commit-keys.ts';

/** Length-prefixed fields, as SSH has them. */
function fields(...parts: (string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part as Uint8Array);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** An RSA number of exactly so many bits; with the leading zero that a positive number has. */
function modulus(bits: number): Buffer {
  const number = Buffer.alloc(Math.ceil(bits / 8), 0xab);
  number[0] = 1 << ((bits - 1) % 8);
  return bits % 8 === 0 ? Buffer.concat([Buffer.alloc(1), number]) : number;
}

const EXPONENT = Buffer.from([1, 0, 1]);
const POINT_32 = Buffer.alloc(32, 0xa7);
const point = (bytes: number, first = 4): Buffer =>
  Buffer.concat([Buffer.from([first]), Buffer.alloc(bytes - 1, 0xa7)]);
const line = (type: string, blob: Buffer, comment = ''): string => `${type} ${blob.toString('base64')}${comment}`;
const ed25519 = line('ssh-ed25519', fields('ssh-ed25519', POINT_32));
const rsa = (bits: number): string => line('ssh-rsa', fields('ssh-rsa', EXPONENT, modulus(bits)));

/** Packets of an OpenPGP key, in the old and the new form of their heads. */
const packet = (tag: number, body: Buffer, old = true): Buffer =>
  Buffer.concat([old ? Buffer.from([0x80 | (tag << 2), body.length]) : Buffer.from([0xc0 | tag, body.length]), body]);
const KEY = Buffer.concat([Buffer.from([4]), Buffer.alloc(50, 0xa7)]);
const block = (packets: Buffer, kind = 'PUBLIC', headers = ''): string =>
  `-----BEGIN PGP ${kind} KEY BLOCK-----\n${headers}\n${packets.toString('base64')}\n=AbC1\n-----END PGP ` +
  `${kind} KEY BLOCK-----\n`;
const openPgp = Buffer.concat([
  packet(6, KEY),
  packet(13, Buffer.from('A <a@example.com>')),
  packet(2, Buffer.alloc(90, 1), false),
  packet(14, KEY, false),
]);

describe('a key of a policy is taken:', () => {
  it.each<{ text: string; why: string }>([
    { text: ed25519, why: 'ssh-ed25519 without a comment' },
    { text: `  ${ed25519} alice@example.com with words\r\n`, why: 'with a comment and white space around it' },
    { text: rsa(2048), why: 'RSA of 2048 bits' },
    { text: rsa(4096), why: 'RSA of 4096 bits' },
    { text: line('ecdsa-sha2-nistp256', fields('ecdsa-sha2-nistp256', 'nistp256', point(65))), why: 'ECDSA on P-256' },
    { text: line('ecdsa-sha2-nistp384', fields('ecdsa-sha2-nistp384', 'nistp384', point(97))), why: 'ECDSA on P-384' },
    { text: line('ecdsa-sha2-nistp521', fields('ecdsa-sha2-nistp521', 'nistp521', point(133))), why: 'ECDSA on P-521' },
    {
      text: line('sk-ssh-ed25519@openssh.com', fields('sk-ssh-ed25519@openssh.com', POINT_32, 'ssh:')),
      why: 'Ed25519 on a security key',
    },
    {
      text: line(
        'sk-ecdsa-sha2-nistp256@openssh.com',
        fields('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point(65), 'ssh:'),
      ),
      why: 'ECDSA on a security key',
    },
    { text: block(openPgp), why: 'an OpenPGP block' },
    {
      text: block(openPgp, 'PUBLIC', 'Comment: of the forge\nVersion: 1\n').replaceAll('\n', '\r\n'),
      why: 'with headers and line ends of another system',
    },
    { text: block(openPgp).replace(/\n=AbC1/, ''), why: 'without a check sum' },
    { text: block(Buffer.concat([openPgp, openPgp])), why: 'a block of two keys' },
  ])('$why', ({ text }) => {
    expect(commitKeyProblem(text)).toBeUndefined();
  });
});

describe('a key of a policy is refused, without being repeated:', () => {
  it.each<{ text: string; words: string; why: string }>([
    { text: '', words: 'expected an OpenSSH public key', why: 'nothing' },
    { text: 'hunter2hunter2hunter2', words: 'no type of key', why: 'a word' },
    { text: '__proto__ AAAA', words: 'no type of key', why: 'a word that objects know' },
    {
      text: `namespaces="file" ${ed25519}`,
      words: 'options and certificates are not taken',
      why: 'options would say what the key may sign',
    },
    {
      text: `cert-authority ${ed25519}`,
      words: 'options and certificates are not taken',
      why: 'an authority would let in keys that nobody named',
    },
    { text: `* ${ed25519}`, words: 'options and certificates are not taken', why: 'a line of an allowed-signers file' },
    { text: `${ed25519} c\n* ${ed25519}`, words: 'one line', why: 'a second line in the comment' },
    { text: `${ed25519} c\r* ${ed25519}`, words: 'one line', why: 'a second line for those who end lines otherwise' },
    { text: `${ed25519} \u0000`, words: 'one line', why: 'a control character' },
    { text: `${ed25519}\t${ed25519}`, words: 'one line', why: 'a tab' },
    { text: 'ssh-ed25519', words: 'no key of that type follows', why: 'no key' },
    { text: ed25519.slice(0, -4), words: 'no key of that type follows|incomplete', why: 'a key that breaks off' },
    { text: ed25519.slice(0, -1), words: 'no key of that type follows|incomplete', why: 'base64 that breaks off' },
    {
      text: line('ssh-ed25519', fields('ssh-rsa', EXPONENT, modulus(2048))),
      words: 'no key of that type follows',
      why: 'another type inside',
    },
    {
      text: line('ssh-ed25519', fields('ssh-ed25519', POINT_32, 'more')),
      words: 'something behind its end',
      why: 'something behind the key',
    },
    {
      text: line('ssh-ed25519', fields('ssh-ed25519', POINT_32.subarray(1))),
      words: 'incomplete',
      why: 'too short a key',
    },
    { text: rsa(2047), words: '2047 bits', why: 'RSA of one bit too few' },
    { text: rsa(1024), words: '1024 bits', why: 'RSA that can be broken' },
    { text: rsa(16_385), words: '16385 bits', why: 'RSA that OpenSSH does not read' },
    {
      text: line('ssh-rsa', fields('ssh-rsa', EXPONENT, Buffer.alloc(300, 0xff))),
      words: '0 bits',
      why: 'a number below zero',
    },
    {
      text: line('ecdsa-sha2-nistp256', fields('ecdsa-sha2-nistp256', 'nistp384', point(97))),
      words: 'incomplete',
      why: 'another curve inside',
    },
    {
      text: line('ecdsa-sha2-nistp256', fields('ecdsa-sha2-nistp256', 'nistp256', point(65, 3))),
      words: 'incomplete',
      why: 'a point in another form',
    },
    {
      text: line('sk-ssh-ed25519@openssh.com', fields('sk-ssh-ed25519@openssh.com', POINT_32)),
      words: 'incomplete',
      why: 'a security key without its application',
    },
    { text: line('ssh-dss', fields('ssh-dss', POINT_32)), words: 'no type of key', why: 'a type that is given up' },
    {
      text: line('ssh-ed25519-cert-v01@openssh.com', fields('ssh-ed25519-cert-v01@openssh.com', POINT_32)),
      words: 'no type of key',
      why: 'a certificate',
    },
    {
      text: `-----BEGIN OPENSSH PRIVATE KEY-----\n${ed25519}\n-----END OPENSSH PRIVATE KEY-----`,
      words: 'private key',
      why: 'a private SSH key',
    },
    {
      text: `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${ed25519}\n-----END ENCRYPTED PRIVATE KEY-----`,
      words: 'private key',
      why: 'a private key in PEM',
    },
    { text: block(openPgp, 'PRIVATE'), words: 'private key', why: 'a private OpenPGP block' },
    {
      text: block(Buffer.concat([openPgp, packet(7, KEY)])),
      words: 'private key',
      why: 'a private subkey under another label',
    },
    {
      text: block(Buffer.concat([openPgp, packet(5, KEY, false)])),
      words: 'private key',
      why: 'a private key under another label',
    },
    { text: block(packet(2, Buffer.alloc(90, 1))), words: 'no OpenPGP public key', why: 'a signature alone' },
    {
      text: block(Buffer.concat([openPgp, packet(11, Buffer.alloc(9))])),
      words: 'no OpenPGP public key',
      why: 'a message behind the key',
    },
    { text: block(openPgp.subarray(0, -1)), words: 'breaks off', why: 'a packet that breaks off' },
    {
      text: block(Buffer.concat([openPgp, Buffer.from([0xc0 | 13, 0xe1, 1])])),
      words: 'breaks off',
      why: 'a length that is not said beforehand',
    },
    {
      text: block(Buffer.concat([openPgp, Buffer.from([0x80 | (13 << 2) | 3, 1])])),
      words: 'breaks off',
      why: 'a length until the end',
    },
    {
      text: block(packet(6, Buffer.concat([Buffer.from([3]), Buffer.alloc(50)]))),
      words: 'no OpenPGP public key',
      why: 'a key of version 3',
    },
    { text: block(openPgp) + block(openPgp), words: 'more than one block', why: 'two blocks' },
    { text: `${block(openPgp)}* ${ed25519}`, words: 'no complete OpenPGP', why: 'a line behind a block' },
    { text: block(openPgp).replace('-----END', '--END'), words: 'no complete OpenPGP', why: 'a block without an end' },
    { text: block(openPgp, 'PUBLIC', 'no header\n'), words: 'no complete OpenPGP', why: 'a line that is no header' },
    {
      text: block(openPgp).replace('=AbC1', '\u0007'),
      words: 'no complete OpenPGP',
      why: 'a control character in a block',
    },
    {
      text: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      words: 'certificates',
      why: 'an X.509 certificate',
    },
  ])('$why', ({ text, words }) => {
    const problem = commitKeyProblem(text);
    expect(problem).toMatch(new RegExp(words));
    for (const given of text.split(/\s+/).filter((word) => word.length > 24 && !/^[a-z]+-/.test(word)))
      expect(problem).not.toContain(given.slice(0, 24));
  });
});

it(
  'what is written for a verifying program is type and base64 of the key, and nothing that somebody typed around ' +
    'it',
  () => {
    expect(readCommitKey(`${ed25519} namespaces="*" * cert-authority`)).toEqual({
      kind: 'ssh',
      type: 'ssh-ed25519',
      blob: ed25519.split(' ')[1],
    });
    expect(readCommitKey(block(openPgp, 'PUBLIC', 'Comment: x\n'))).toEqual({
      kind: 'openpgp',
      packets: openPgp.toString('base64'),
    });
  },
);

it('is refused in a time that grows with the text and no faster', () => {
  const texts = [
    `ssh-ed25519${' '.repeat(65_000)}x`,
    `-----BEGIN PGP PUBLIC KEY BLOCK-----\n${'\n'.repeat(65_000)}x`,
    `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${'AAAA \n'.repeat(11_000)}`,
    'A: '.repeat(20_000),
  ];
  for (const text of texts) expect(commitKeyProblem(text)).toBeDefined();
});
