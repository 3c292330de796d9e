/**
 * A run is interrupted, followed up and cancelled through another process than the one that works on it, on one
 * PostgreSQL. contract §3.8 (Follow-up), §3.13 (Interrupt).
 */
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { eventually } from '../support/services/service.ts';
import { Field } from '../support/services/replica-fixture.ts';

const server = await postgresServer();
/** What the demo model does before it says anything more. */
const PROMPT = [
  'Work.',
  '```demo',
  JSON.stringify([{ tool: 'bash', input: { command: 'sleep 600' } }, { say: 'not said' }]),
  '```',
].join('\n');

(server.ok ? describe : describe.skip)(
  `a run that another process works on${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`,
  () => {
    let field: Field;
    let drop: () => Promise<void>;

    beforeAll(async () => {
      if (!server.ok) return;
      const database = await freshDatabase(server.url);
      drop = database.drop;
      field = await Field.open({
        databaseUrl: database.url,
        replicas: 2,
        tree: {},
        environment: { MILLWRIGHT_RUN_COMMAND: '', MILLWRIGHT_AGENT_DEMO_STEPS: 'true', MILLWRIGHT_API_RATE: '0' },
        // The first answers requests and works on nothing, the second works.
        own: (index) => (index === 0 ? { MILLWRIGHT_RUN_CONCURRENCY: '0' } : { MILLWRIGHT_RUN_CONCURRENCY: '2' }),
      });
    }, 180_000);
    afterAll(async () => {
      await field?.close();
      await drop?.();
    });

    const asked = (method: string, path: string, body?: unknown) => field.replica(0).ask(method, path, body);
    const stateOf = async (run: string): Promise<string> =>
      String((await asked('GET', `/agent/runs/${run}`)).body['state']);
    const until = (run: string, state: string): Promise<true> =>
      eventually(
        `the run is ${state}`,
        async () => ((await stateOf(run)) === state ? (true as const) : undefined),
        60_000,
      );
    /** A run in whose turn a command is under way. */
    async function atWork(): Promise<string> {
      const { body } = await asked('POST', '/agent/runs', { prompt: PROMPT });
      const run = String(body['run_id']);
      await eventually(
        'its command is under way',
        async () => {
          const { body: log } = await asked('GET', `/agent/runs/${run}/events?limit=200`);
          return JSON.stringify(log).includes('sleep 600') && (await stateOf(run)) === 'INPROGRESS' ? true : undefined;
        },
        60_000,
      );
      return run;
    }
    const told = async (run: string): Promise<string> =>
      JSON.stringify((await asked('GET', `/agent/runs/${run}/events?limit=500`)).body);
    const executionsOf = async (run: string): Promise<unknown> =>
      (await field.ask(`SELECT count(*) AS executions FROM execution WHERE run_id = '${run}'`))[0]?.['executions'];

    it('is interrupted, waits, and goes on with a follow-up in the same execution', async () => {
      const run = await atWork();
      expect((await asked('POST', `/agent/runs/${run}/interrupt`)).status).toBe(202);
      await until(run, 'BLOCKED');
      expect(await asked('POST', `/agent/runs/${run}/followups`, { message: 'Say hello instead.' })).toMatchObject({
        status: 200,
        body: { outcome: 'live_session' },
      });
      await until(run, 'SUCCEEDED');
      const log = await told(run);
      expect(log).not.toContain('not said');
      expect(log).toMatch(/an interrupt was requested.*interrupted: it waits/);
      expect(Number(await executionsOf(run))).toBe(1);
    }, 180_000);

    it('hears a follow-up that waits, once the turn is interrupted', async () => {
      const run = await atWork();
      expect((await asked('POST', `/agent/runs/${run}/followups`, { message: 'Instead.' })).body).toMatchObject({
        outcome: 'queue_pending',
      });
      expect((await asked('POST', `/agent/runs/${run}/interrupt`)).status).toBe(202);
      await until(run, 'SUCCEEDED');
      expect(await told(run)).not.toContain('not said');
    }, 180_000);

    it('is cancelled while it waits, and says no more', async () => {
      const run = await atWork();
      await asked('POST', `/agent/runs/${run}/interrupt`);
      await until(run, 'BLOCKED');
      expect((await asked('POST', `/agent/runs/${run}/cancel`)).status).toBe(200);
      await until(run, 'CANCELLED');
      expect((await asked('POST', `/agent/runs/${run}/interrupt`)).status).toBe(400);
    }, 180_000);
  },
);
