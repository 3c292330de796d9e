/**
 * The certificate authority of one execution: trusted by nobody but the programs of its sandbox, and its key never
 * leaves the service. contract §10.4 (Declared injections).
 */
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import 'reflect-metadata';

export interface RunAuthority {
  /** Its certificate (PEM). */
  certificate: string;
  /** What a server shows for a host: made once for each. */
  contextFor(host: string): Promise<SecureContext>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** Longer than any execution takes. */
const VALID_MS = 7 * 24 * 3_600_000;
/** For clocks that are behind. */
const BEFORE_MS = 3_600_000;
/** Bytes of a serial number. RFC 5280. */
const SERIAL_BYTES = 16;

/** A new authority for these hosts and no others. */
export async function createRunAuthority(hosts: readonly string[], nowMs: number): Promise<RunAuthority> {
  // Loaded where it is needed: most runs have none.
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const times = { notBefore: new Date(nowMs - BEFORE_MS), notAfter: new Date(nowMs + VALID_MS) };
  const name = 'CN=Millwright credential broker of one run';
  const names = hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host }));
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...times,
    serialNumber: serialNumber(),
    name,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const made = new Map<string, Promise<SecureContext>>();
  const make = async (host: string): Promise<SecureContext> => {
    const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.create({
      ...times,
      serialNumber: serialNumber(),
      subject: 'CN=Millwright credential broker',
      issuer: authority.subject,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names.filter(({ value }) => value === host)),
        await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
        await x509.SubjectKeyIdentifierExtension.create(own.publicKey),
      ],
    });
    const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey)).toString('base64');
    return createSecureContext({
      cert: certificate.toString('pem'),
      key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
    });
  };
  return {
    certificate: authority.toString('pem'),
    contextFor: async (host) => {
      if (!hosts.includes(host)) throw new Error('this authority is for other hosts');
      let context = made.get(host);
      if (context === undefined) made.set(host, (context = make(host)));
      return context;
    },
  };
}

/** Positive, and nobody's guess. */
function serialNumber(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes.toString('hex');
}
