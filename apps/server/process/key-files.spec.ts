/**
 * Key files: made once and privately, read in the formats that people have, refused where others can read them.
 * contract §1, §2.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyFileError, readKeyFile, readKeyFiles, writePrivateFile } from './key-files.ts';

const VARIABLE = 'MILLWRIGHT_MASTER_KEY_FILE';
const KEY = randomBytes(32);

describe('key files', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'millwright-keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (path: string, create = false): Uint8Array => readKeyFile(path, { create, variable: VARIABLE });
  const file = (content: Uint8Array | string, mode = 0o600): string => {
    const path = join(folder, 'key');
    writeFileSync(path, content, { mode });
    chmodSync(path, mode);
    return path;
  };

  it('are made with 32 random bytes that only this user can read, and read again', () => {
    const path = join(folder, 'deep', 'er', 'key');
    const key = read(path, true);
    expect(key).toHaveLength(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
    expect(Buffer.from(read(path, true))).toEqual(Buffer.from(key));
    expect(Buffer.from(read(join(folder, 'another'), true))).not.toEqual(Buffer.from(key));
  });

  it('are never made where they were named: a typing error must not become a second key', () => {
    const path = join(folder, 'missing');
    expect(() => read(path)).toThrow(KeyFileError);
    expect(() => read(path)).toThrow(new RegExp(`${VARIABLE}: no file at ${path}`));
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    { content: KEY, why: 'raw' },
    { content: KEY.toString('hex'), why: 'hex' },
    { content: KEY.toString('hex').toUpperCase(), why: 'upper-case hex' },
    { content: `${KEY.toString('hex')}\n`, why: 'as openssl rand -hex 32 writes it' },
    { content: `${KEY.toString('base64')}\n`, why: 'as openssl rand -base64 32 writes it' },
    { content: `${KEY.toString('base64')}\r\n`, why: 'through an editor of another system' },
  ])('hold a key $why', ({ content }) => {
    expect(Buffer.from(read(file(content)))).toEqual(KEY);
  });

  it.each([
    { content: '', why: 'nothing' },
    { content: KEY.subarray(1), why: 'too few bytes' },
    { content: Buffer.concat([KEY, KEY]), why: 'too many bytes' },
    { content: KEY.toString('hex').slice(2), why: 'too few digits' },
    { content: `${KEY.toString('hex')}00`, why: 'too many digits' },
    { content: `${KEY.toString('hex')}\n\n`, why: 'two newlines' },
    { content: KEY.toString('hex').replace(/.$/, 'g'), why: 'no hex digit' },
    { content: KEY.toString('base64').replace('=', ''), why: 'base64 without padding' },
  ])('are refused when they hold $why, without showing it', ({ content }) => {
    const path = file(content);
    expect(() => read(path)).toThrow(
      `${VARIABLE}: ${path} does not hold a key of 32 bytes (raw, 64 hex digits or base64)`,
    );
  });

  it.each([0o640, 0o604, 0o644, 0o660, 0o610, 0o601, 0o777])(
    'are refused with mode %o: others can reach them',
    (mode) => {
      const path = file(KEY, mode);
      expect(() => read(path)).toThrow(`${VARIABLE}: ${path} can be read by others; run: chmod 600 ${path}`);
    },
  );

  it('are named together when several are bad, and read in their order when none is', () => {
    const good = { path: file(KEY), create: false, variable: VARIABLE };
    const [bad, worse] = [
      { path: join(folder, 'none'), create: false, variable: 'FIRST' },
      { path: join(folder, 'neither'), create: false, variable: 'SECOND' },
    ];
    expect(() => readKeyFiles([bad, good, worse])).toThrow(
      new RegExp(`^FIRST: no file at ${bad.path}; .*\nSECOND: no file at ${worse.path}; `),
    );
    const [first, second] = readKeyFiles([good, { path: join(folder, 'made'), create: true, variable: VARIABLE }]);
    expect([Buffer.from(first), second.length]).toEqual([KEY, 32]);
  });

  it('may be read-only', () => {
    expect(Buffer.from(read(file(KEY, 0o400)))).toEqual(KEY);
  });
});

describe('private files', () => {
  it('are never written over', () => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-private-'));
    const path = join(folder, 'key');
    writePrivateFile(path, 'first');
    expect(() => writePrivateFile(path, 'second')).toThrow(/EEXIST/);
    expect(readFileSync(path, 'utf8')).toBe('first');
    rmSync(folder, { recursive: true });
  });
});
