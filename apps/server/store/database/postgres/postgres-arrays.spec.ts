/** Arrays as PostgreSQL receives them in binary, byte by byte; the server's own word on them is in the slow tier. */
import type { SqlValue } from '../transactions.ts';
import { encodeColumn } from './postgres-statements.ts';

const encode = (...values: SqlValue[]) =>
  encodeColumn(
    values.map((value) => ['beside', value]),
    1,
  );
const hexOf = (...values: SqlValue[]): string => encode(...values).bytes.toString('hex');

/** One dimension, whether there are nulls, type of the elements, how many, counted from 1. */
const header = (hasNulls: 0 | 1, oid: string, count: number): string =>
  `00000001 0000000${hasNulls} 000000${oid} 0000000${count} 00000001 `;
const bytesOf = (text: string): string => text.replaceAll(' ', '');

describe('an array', () => {
  it('of texts holds their UTF-8 behind its length', () => {
    expect(encode('a', 'é').type).toBe('text[]');
    expect(hexOf('a', 'é')).toBe(bytesOf(`${header(0, '19', 2)} 00000001 61 00000002 c3a9`));
  });

  it('of numbers holds eight bytes each', () => {
    expect(encode(1).type).toBe('bigint[]');
    expect(hexOf(1, -2, 2 ** 32)).toBe(
      bytesOf(`${header(0, '14', 3)} 00000008 0000000000000001 00000008 fffffffffffffffe 00000008 0000000100000000`),
    );
  });

  it('of bytes holds them as they are', () => {
    expect(encode(new Uint8Array([0, 255])).type).toBe('bytea[]');
    expect(hexOf(new Uint8Array([0, 255]), new Uint8Array())).toBe(
      bytesOf(`${header(0, '11', 2)} 00000002 00ff 00000000`),
    );
  });

  it('says that it holds nulls, and takes its type from what is none', () => {
    expect(hexOf(null, 7)).toBe(bytesOf(`${header(1, '14', 2)} ffffffff 00000008 0000000000000007`));
    expect(encode(null, null)).toEqual({
      type: 'text[]',
      bytes: Buffer.from(bytesOf(`${header(1, '19', 2)} ffffffff ffffffff`), 'hex'),
    });
  });

  it.each([
    { why: 'a number among texts', values: ['a', 1] },
    { why: 'a text among numbers', values: [1, 'a'] },
    { why: 'a text among bytes', values: [new Uint8Array(), 'a'] },
    { why: 'a fraction', values: [1.5] },
    { why: 'a number that is none', values: [Number.NaN] },
    { why: 'a number beyond 2^53', values: [2 ** 53] },
  ])('refuses $why', ({ values }) => {
    expect(() => encode(...values)).toThrow(TypeError);
  });

  it('does not quote what it refuses', () => {
    expect(() => encode(1, 'secret')).toThrow(/^a value that is no element of bigint\[\]$/);
  });
});
