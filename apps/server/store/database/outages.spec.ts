/** An outage is one line at its beginning and one at its end, and no fault of another kind is taken for one. */
import { Log } from '../../process/log.ts';
import type { Database } from './database.ts';
import { logOutages } from './outages.ts';
import { StoreError } from './store-errors.ts';

describe('outages of the database', () => {
  let atMs: number;
  let lines: { level: string; message: string; [member: string]: unknown }[];
  let log: Log;
  let database: Database;
  /** What the database answers with. */
  let fate: Error | undefined;

  beforeEach(() => {
    [atMs, lines, fate] = [0, [], undefined];
    log = new Log(
      (line) => void lines.push(JSON.parse(line)),
      () => 0,
    );
    const answer = <T>(): Promise<T> => (fate === undefined ? Promise.resolve('an answer' as T) : Promise.reject(fate));
    database = logOutages(
      { dialect: 'postgres', run: answer, read: answer, longRead: answer } as unknown as Database,
      log,
      () => atMs,
    );
  });

  /** As every part of the service does. */
  const attempt = async (how: 'run' | 'read' | 'longRead' = 'run'): Promise<void> => {
    await database[how](function* () {}).catch((error: unknown) => log.fault('write failed', error, { run_id: 'r' }));
  };
  const told = (): [string, string][] => lines.map(({ level, message }) => [level, message]);

  it('are told of once each, with the reason and how long they were, and without a stack', async () => {
    await attempt();
    fate = new StoreError('unavailable', 'ECONNREFUSED');
    for (const how of ['run', 'read', 'longRead', 'run'] as const) {
      await attempt(how);
      atMs += 3_500;
    }
    expect(lines).toEqual([
      { at: expect.any(String), level: 'error', message: 'database connection lost', reason: 'ECONNREFUSED' },
    ]);
    fate = undefined;
    await attempt('read');
    await attempt();
    expect(lines.slice(1)).toEqual([
      { at: expect.any(String), level: 'warn', message: 'database connected again', away_seconds: 14 },
    ]);
    fate = new StoreError('unavailable', '57P01');
    await attempt();
    expect(lines.at(-1)).toMatchObject({ message: 'database connection lost', reason: '57P01' });
  });

  it('are not over while only some are let in', async () => {
    for (const round of [1, 2, 3]) {
      fate = new StoreError('unavailable', '53300');
      await attempt();
      fate = undefined;
      atMs = round * 1_000;
      await attempt();
    }
    expect(told()).toEqual([['error', 'database connection lost']]);
    atMs += 3_000;
    await attempt();
    expect(lines.at(-1)).toMatchObject({ message: 'database connected again', away_seconds: 3 });
  });

  it.each([
    new StoreError('broken', '42P01'),
    new StoreError('full', '53100'),
    new StoreError('conflict', '23505'),
    new StoreError('retry', '40P01'),
    new Error('a bug'),
    new StoreError('unavailable', '25P04'),
    new StoreError('unavailable', '57014'), // a transaction that went on for too long, of a server that answers
  ])('are not what %s is: it is written at every attempt, with the stack', async (fault) => {
    fate = fault;
    await attempt();
    await attempt();
    expect(told()).toEqual([1, 2].map(() => ['error', 'write failed']));
    expect(lines[0]).toMatchObject({ run_id: 'r', error: expect.stringContaining('\n    at ') });
  });
});
