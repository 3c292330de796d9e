/** What a PostgreSQL server reads out of the arrays that it is sent in binary. */
import { Client } from 'pg';
import { postgresServer } from '../../../../../test/support/databases/postgres.ts';
import type { SqlValue } from '../transactions.ts';
import { encodeColumn } from './postgres-statements.ts';

const found = await postgresServer();
const onServer = found.ok ? describe : describe.skip;

onServer(`an array on PostgreSQL${found.ok ? '' : ` (SKIPPED: ${found.reason})`}`, () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client(found.ok ? found.url : '');
    await client.connect();
  });
  afterAll(() => client.end());

  /** Its elements, and the array as the server would send it in binary. */
  async function read(values: readonly SqlValue[]): Promise<{ elements: unknown[]; sent: Buffer; given: Buffer }> {
    const { type, bytes } = encodeColumn(
      values.map((value) => [value]),
      0,
    );
    const { rows } = await client.query<{ value: unknown }>(
      `SELECT value FROM unnest($1::${type}) WITH ORDINALITY AS given(value, place) ORDER BY place`,
      [bytes],
    );
    const answer = await client.query<{ sent: Buffer }>(`SELECT array_send($1::${type}) AS sent`, [bytes]);
    return { elements: rows.map(({ value }) => value), sent: answer.rows[0]?.sent as Buffer, given: bytes };
  }

  const many = Array.from({ length: 5_000 }, (_, at) => at);
  it.each<{ of: string; values: SqlValue[] }>([
    { of: 'texts', values: ['a', '', 'NULL', '{"a","b"}', "it's \\ here", ' \n\t '] },
    { of: 'texts beyond ASCII', values: ['é', 'aé', 'über den Ärger', '漢字', '🙂', 'ascii', `${'x'.repeat(63)}é`] },
    { of: 'long texts beyond ASCII', values: ['漢'.repeat(65), `${'x'.repeat(64)}🙂`, 'é'.repeat(100_000)] },
    { of: 'numbers', values: [0, 1, -1, 255, 2 ** 31, -(2 ** 31), 2 ** 32, -(2 ** 32) - 1] },
    { of: 'the largest numbers', values: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1_763_852_400_000] },
    { of: 'bytes', values: [Buffer.from([0, 1, 255]), Buffer.alloc(0), Buffer.from('\\x00')] },
    { of: 'nulls among texts', values: [null, 'a', null] },
    { of: 'nulls among numbers', values: [1, null] },
    { of: 'nulls among bytes', values: [null, Buffer.from([7])] },
    { of: 'nulls only', values: [null, null] },
    { of: 'many texts', values: many.map((at) => `text ${at}`) },
    { of: 'many numbers', values: many },
    { of: 'a megabyte', values: [Buffer.alloc(1_048_576, 0xe9), Buffer.from('behind it')] },
  ])('of $of is what was given, in the bytes that the server would send', async ({ values }) => {
    const { elements, sent, given } = await read(values);
    expect(elements).toEqual(values);
    expect(given.equals(sent)).toBe(true);
  });

  it('of bytes in an array that is no Buffer holds those bytes', async () => {
    const { elements } = await read([new Uint8Array([9, 8, 7, 6]).subarray(1, 3)]);
    expect(elements).toEqual([Buffer.from([8, 7])]);
  });

  it('without elements has none', async () => {
    expect((await read([])).elements).toEqual([]);
  });

  it('of a text that is no Unicode holds the replacement character where it is not', async () => {
    const { elements } = await read(['\ud800', `${'x'.repeat(64)}\udc00`]);
    expect(elements).toEqual(['\ufffd', `${'x'.repeat(64)}\ufffd`]);
  });
});
