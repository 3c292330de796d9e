/**
 * A Redis that lets the queue in and refuses what it asks: told each time, and no connection is left behind by the many
 * attempts. explanation: Engine.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RunQueue } from '../../apps/server/execution/engine/run-queue.ts';
import { hasRedis, redisServer, type RedisServer } from '../support/databases/redis.ts';
import { eventually } from '../support/services/service.ts';

const withRedis = hasRedis();

(withRedis ? describe : describe.skip)(
  `a Redis user who may not ask for INFO${withRedis ? '' : ' (SKIPPED: no redis-server on the PATH)'}`,
  () => {
    let redis: RedisServer;
    let queue: RunQueue;
    const reported: unknown[] = [];

    beforeAll(async () => {
      redis = await redisServer();
      await redis.ask('ACL', 'SETUSER', 'limited', 'on', '>word', '~*', '&*', '+@all', '-info');
      queue = new RunQueue({
        name: 'refused',
        redisUrl: redis.url.replace('redis://', 'redis://limited:word@'),
        databaseUrl: '',
        report: (fault) => void reported.push(fault),
      });
    });
    afterAll(async () => {
      await queue.close();
      await redis.stop();
    });

    const connections = async (): Promise<number> =>
      ((await redis.ask('CLIENT', 'LIST')).match(/user=limited/g) ?? []).length;

    it('costs as many connections after many attempts as after one', async () => {
      queue.work(
        1,
        async () => undefined,
        () => undefined,
      );
      for (let n = 0; n < 20; n += 1) await expect(queue.waiting()).rejects.toThrow(/NOPERM/);
      await eventually('the worker has tried several times', () => (reported.length >= 3 ? true : undefined));
      // At most: the queue's, the worker's, and the one that it makes out of that.
      await eventually('those before are gone', async () => ((await connections()) <= 3 ? true : undefined));
    }, 120_000);
  },
);
