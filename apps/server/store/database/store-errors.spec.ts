/**
 * What the codes of both databases, of sockets and of TLS mean for whoever asked; nothing else of an error is passed
 * on. contract §3.10 (Errors), §5.8 (Transaction).
 */
import { QueryFailedError } from 'typeorm';
import { LostRaceError, StoreError, type StoreErrorKind, toStoreError } from './store-errors.ts';

const CODES: readonly (readonly [why: string, kind: StoreErrorKind, ...codes: string[]])[] = [
  [
    'a key that is taken',
    'conflict',
    '23505',
    'SQLITE_CONSTRAINT_UNIQUE',
    'SQLITE_CONSTRAINT_PRIMARYKEY',
    'SQLITE_CONSTRAINT_TRIGGER',
  ],
  ['a race that was lost', 'retry', '40001', '40P01', '55P03'],
  [
    'a connection that broke, or a pooler that refuses',
    'unavailable',
    '08000',
    '08001',
    '08003',
    '08004',
    '08006',
    '08P01',
  ],
  [
    'a server that stops, crashes, starts, or gives a statement up',
    'unavailable',
    '57P01',
    '57P02',
    '57P03',
    '57P04',
    '57P05',
    '57014',
  ],
  ['a server that became a standby', 'unavailable', '25006'],
  ['a commit of which nobody knows', 'unavailable', '40003'],
  ['a transaction that was given up because nobody went on with it', 'unavailable', '25P03', '25P04'],
  ['connections that are used up', 'unavailable', '53300', '53400', '53000'],
  ['credentials or a database that are no longer there', 'unavailable', '28000', '28P01', '3D000'],
  ['a machine at fault', 'unavailable', '58000', '58030'],
  [
    'a server out of reach',
    'unavailable',
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'EHOSTDOWN',
    'ENETUNREACH',
    'ENETDOWN',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EADDRNOTAVAIL',
    'EMFILE',
  ],
  [
    'a certificate that is not trusted',
    'unavailable',
    'CERT_HAS_EXPIRED',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
  ['a file that somebody else holds', 'unavailable', 'SQLITE_BUSY'],
  ['a file that somebody else has written to', 'unavailable', 'SQLITE_BUSY_SNAPSHOT'],
  ['no room', 'full', '53100', '53200', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC', 'ENOSPC'],
  [
    'a bug, or damage',
    'broken',
    '42601',
    '42P01',
    '42501',
    '22P02',
    '23502',
    '23503',
    '25P02',
    '26000',
    'XX000',
    'XX001',
    'SQLITE_ERROR',
    'SQLITE_CORRUPT',
    'SQLITE_READONLY',
    'EACCES',
    'ERR_INVALID_ARG_TYPE',
  ],
];

describe('a code', () => {
  it.each(CODES.flatMap(([why, kind, ...codes]) => codes.map((code) => ({ code, kind, why }))))(
    '$code is $kind: $why',
    ({ code, kind }) => {
      const expected = { kind, code, message: `database: ${kind} (${code})` };
      expect(toStoreError(Object.assign(new Error('row 1'), { code, detail: 'row 1' }))).toMatchObject(expected);
      expect(
        toStoreError(new QueryFailedError('INSERT', ['row 1'], Object.assign(new Error('row 1'), { code }))),
      ).toMatchObject(expected);
    },
  );
});

describe('an error without a code', () => {
  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ])('of the driver is an outage: %s', (message) => {
    expect(toStoreError(new Error(message))).toMatchObject({ kind: 'unavailable', code: 'connection' });
    expect(toStoreError(new QueryFailedError('SELECT', ['row 1'], new Error(message)))).toMatchObject({
      kind: 'unavailable',
      code: 'connection',
    });
  });

  it('never passes a statement and its parameters on', () => {
    expect(
      toStoreError(new QueryFailedError('INSERT', ['row 1'], new Error('nobody has heard of this'))),
    ).toMatchObject({ kind: 'broken', code: 'unknown', message: 'database: broken (unknown)' });
  });

  it('is left alone where it is a bug of ours, or was told apart before', () => {
    for (const error of [
      new TypeError('x is not a function'),
      new LostRaceError('again'),
      new StoreError('full', '53100'),
    ])
      expect(toStoreError(error)).toBe(error);
  });
});
