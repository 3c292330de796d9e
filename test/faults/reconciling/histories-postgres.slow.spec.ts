/** The same histories on PostgreSQL, where replicas really are two: a few of them. SYNC_SEED repeats them. */
import { freshDatabase, postgresServer } from '../../support/databases/postgres.ts';
import { expectInvariants, timeMsFor } from '../../support/sync-histories/spec.ts';

const COUNT = 20;
/** Milliseconds of one beside the time of a file: each of its statements goes to a server and back. */
const SERVER_MS_MAX = 15_000;
const SEED = Number(process.env['SYNC_SEED'] ?? Date.now() % 1_000_000);
const server = await postgresServer();
const onPostgres = server.ok ? it : it.skip;

onPostgres(
  `the invariants hold over ${COUNT} random histories on PostgreSQL (SYNC_SEED=${SEED}` +
    `)${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`,
  async () => {
    if (!server.ok) return;
    const [real, twin] = [await freshDatabase(server.url), await freshDatabase(server.url)];
    try {
      await expectInvariants(COUNT, SEED, {
        urls: [real.url, twin.url],
        surely: ['takeovers', 'deaths', 'applied', 'blocked', 'failed'],
      });
    } finally {
      await real.drop();
      await twin.drop();
    }
  },
  timeMsFor(COUNT) + COUNT * SERVER_MS_MAX,
);
