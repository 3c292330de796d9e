/**
 * Notices between processes on a real PostgreSQL: they arrive, a lost connection is made again, and nothing that was
 * told meanwhile is missed.
 */
import { Client } from 'pg';
import { Notices, type Topic } from '../../apps/server/store/database/notices.ts';
import { PostgresLine } from '../../apps/server/store/database/postgres/notices-postgres.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { eventually } from '../support/services/service.ts';

const server = await postgresServer();
const suite = server.ok ? describe : describe.skip;

interface Party {
  notices: Notices;
  heard: string[];
  states: string[];
}

suite(`notices over PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  let url: string;
  let drop: () => Promise<void>;
  let operator: Client;
  const parties: Party[] = [];

  beforeAll(async () => {
    if (!server.ok) return;
    ({ url, drop } = await freshDatabase(server.url));
    operator = new Client(url);
    await operator.connect();
  });
  afterEach(async () => {
    for (const { notices } of parties.splice(0)) await notices.stop();
  });
  afterAll(async () => {
    await operator.end();
    await drop();
  });

  async function party(at = url, topics: readonly Topic[] = ['serving', 'run', 'runs']): Promise<Party> {
    const [heard, states]: [string[], string[]] = [[], []];
    const notices = new Notices(
      (fault) => void states.push(String(fault)),
      new PostgresLine({
        url: at,
        lost: ({ message }) => void states.push(message),
        regained: () => void states.push('regained'),
      }),
    );
    for (const topic of topics) notices.subscribe(topic, (key) => void heard.push(`${topic} ${key ?? '*'}`));
    notices.start();
    const made = { notices, heard, states };
    parties.push(made);
    if (at === url) await listens(made);
    return made;
  }

  /** With every connection anything may have changed. */
  const listens = ({ heard }: Party): Promise<true> =>
    eventually('it listens', () => (heard.includes('serving *') ? true : undefined));
  const heardOf = ({ heard }: Party, what: string): Promise<true> =>
    eventually(`${what} is heard`, () => (heard.includes(what) ? true : undefined));
  const kill = (): Promise<unknown> =>
    operator.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'millwright notices' " +
        'AND datname = current_database()',
    );

  it('arrive at every other process, once, and not at who told them', async () => {
    const [one, two, three] = [await party(), await party(), await party()];
    for (const { heard } of [one, two, three]) heard.length = 0;
    one.notices.publish('run', 'r1');
    two.notices.publish('run', 'r2');
    await Promise.all([
      heardOf(two, 'run r1'),
      heardOf(three, 'run r1'),
      heardOf(one, 'run r2'),
      heardOf(three, 'run r2'),
    ]);
    // What is told last has everything before it in front of it.
    one.notices.publish('run', 'end');
    two.notices.publish('run', 'end');
    await eventually('the end is heard of both', () =>
      three.heard.filter((what) => what === 'run end').length === 2 ? true : undefined,
    );
    expect(three.heard.filter((what) => what === 'run r1')).toHaveLength(1);
    expect(one.heard.filter((what) => what === 'run r1')).toHaveLength(1); // told itself, directly
  });

  it('that are told a thousand times are few on the wire, and the last one arrives', async () => {
    const [one, two] = [await party(), await party()];
    two.heard.length = 0;
    for (let at = 0; at < 1_000; at += 1) one.notices.publish('runs');
    one.notices.publish('run', 'last');
    await heardOf(two, 'run last');
    expect(two.heard.filter((what) => what === 'runs *').length).toBeLessThan(10);
  });

  it(
    'go on after every connection was killed: what was told meanwhile counts as anything, and who tells was not ' +
      'disturbed',
    async () => {
      const [one, two] = [await party(), await party()];
      for (const { heard } of [one, two]) heard.length = 0;
      await kill();
      for (let at = 0; at < 100; at += 1) one.notices.publish('run', `r${at}`);
      await Promise.all([listens(one), listens(two)]);
      one.notices.publish('run', 'afterwards');
      await heardOf(two, 'run afterwards');
      expect(one.states).toContain('regained');
      expect(one.states.filter((state) => state === 'regained')).toHaveLength(1);
    },
  );

  it('of a database that never answers are told nobody, and keep nobody from stopping', async () => {
    const lonely = await party('postgres://nobody@127.0.0.1:1/none');
    for (let at = 0; at < 20_000; at += 1) lonely.notices.publish('run', `r${at}`);
    await eventually('the outage is told', () => (lonely.states.length > 0 ? true : undefined));
    await lonely.notices.stop();
    expect(lonely.states).toEqual(['database: unavailable (ECONNREFUSED)']); // once
  });
});
