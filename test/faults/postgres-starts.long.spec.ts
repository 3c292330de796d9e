/**
 * A start on a PostgreSQL that cannot be used ends with one clear line: what, where, and the way out; never the URL.
 * And a second process that does not fit the first. contract §1, §2.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Client } from 'pg';
import 'reflect-metadata';
import { start } from '../../apps/server/start.ts';
import { MIGRATION_LOCK } from '../../apps/server/store/database/migrations.ts';
import { canOwnPostgres, ownPostgres, type OwnPostgres } from '../support/databases/own-postgres.ts';
import { freePort } from '../support/network/ports.ts';
import { startServiceProcess } from '../support/services/service-process.ts';
import { ADMIN_KEY, installationOn, type Installation } from '../support/services/services-on-postgres.ts';
import { eventually } from '../support/services/service.ts';
import { SUITE_AGENT } from '../support/agents/suite-agent.ts';
import { nodeArguments, REPOSITORY } from '../support/processes/node-arguments.ts';

const HIDDEN = 'hidden-word';
const possible = await canOwnPostgres();

(possible.ok ? describe : describe.skip)(
  `A start on PostgreSQL${possible.ok ? '' : ` (SKIPPED: ${possible.reason})`}`,
  () => {
    let server: OwnPostgres;
    let close: () => Promise<void>;
    let installation: Installation;
    let folder: string;

    beforeAll(async () => {
      ({ server, close } = await ownPostgres());
      for (const name of ['mill', 'other']) await server.ask(`CREATE DATABASE ${name}`);
      await server.ask(`CREATE ROLE secretive LOGIN PASSWORD '${HIDDEN}'`);
      await server.ask('CREATE ROLE nobody_much LOGIN');
      server.allow('host all secretive 127.0.0.1/32 scram-sha-256');
      await server.ask('SELECT pg_reload_conf()');
      installation = installationOn(server.url('mill'));
      folder = mkdtempSync(join(tmpdir(), 'millwright-starts-'));
    }, 120_000);

    afterAll(async () => {
      await installation?.close();
      await close?.();
      rmSync(folder, { recursive: true, force: true });
    }, 120_000);

    /** Starts the service; its exit code and what it wrote to stderr. */
    async function started(environment: Record<string, string>): Promise<{ code: number; lines: string[] }> {
      let stderr = '';
      const heard = new PassThrough();
      heard.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const answer = await start([], {
        environment: {
          PATH: process.env['PATH'],
          MILLWRIGHT_PORT: String(await freePort()),
          MILLWRIGHT_DATA_DIR: mkdtempSync(join(folder, 'data-')),
          MILLWRIGHT_DISK_RESERVE_MB: '1',
          ...installation.environment,
          ...environment,
        },
        cwd: folder,
        stdout: new PassThrough(),
        stderr: heard,
        builtInAgent: SUITE_AGENT,
      });
      if (typeof answer !== 'number') {
        await answer.stop();
        throw new Error('it started');
      }
      await new Promise((resolve) => setImmediate(resolve));
      return { code: answer, lines: stderr.trim().split('\n') };
    }

    const at = (change: (url: URL) => void, database = 'mill'): string => {
      const url = new URL(server.url(database));
      change(url);
      return url.href;
    };
    const place = (): string => `PostgreSQL at 127.0.0.1:${server.port}`;

    it.each<{ why: string; environment: () => Record<string, string>; says: () => string }>([
      {
        why: 'nobody listens',
        environment: () => ({ MILLWRIGHT_DATABASE_URL: `postgres://${HIDDEN}:${HIDDEN}@127.0.0.1:1/${HIDDEN}` }),
        says: () =>
          'PostgreSQL at 127.0.0.1:1 refuses the connection; start the server, or mend host and port in ' +
          'MILLWRIGHT_DATABASE_URL',
      },
      {
        why: 'no such host',
        environment: () => ({ MILLWRIGHT_DATABASE_URL: `postgres://${HIDDEN}@nowhere.invalid/${HIDDEN}` }),
        says: () => 'PostgreSQL at nowhere.invalid:5432 (is not known|cannot be looked up) by its name',
      },
      {
        why: 'a wrong password',
        environment: () => ({
          MILLWRIGHT_DATABASE_URL: at((url) => {
            url.username = 'secretive';
            url.password = `not-${HIDDEN}`;
          }),
        }),
        says: () => `${place()} refuses the password; give MILLWRIGHT_DATABASE_URL the right user and password`,
      },
      {
        why: 'no password',
        environment: () => ({
          MILLWRIGHT_DATABASE_URL: at((url) => {
            url.username = 'secretive';
          }),
        }),
        says: () => `${place()} refuses the password`,
      },
      {
        why: 'no such database',
        environment: () => ({
          MILLWRIGHT_DATABASE_URL: at((url) => {
            url.pathname = `/${HIDDEN}`;
          }),
        }),
        says: () => `${place()} has no database of that name; make it \\(createdb\\)`,
      },
      {
        why: 'no such user',
        environment: () => ({
          MILLWRIGHT_DATABASE_URL: at((url) => {
            url.username = HIDDEN;
          }),
        }),
        says: () => `${place()} does not let this user in; give MILLWRIGHT_DATABASE_URL another user`,
      },
      {
        why: 'a user who may make no tables',
        environment: () => ({
          MILLWRIGHT_DATABASE_URL: at((url) => {
            url.username = 'nobody_much';
          }, 'other'),
        }),
        says: () =>
          `${place()} does not let this user make or change tables; grant the user of MILLWRIGHT_DATABASE_URL CREATE`,
      },
      {
        why: 'no TLS',
        environment: () => ({
          MILLWRIGHT_DATABASE_URL: at((url) => {
            url.search = '?sslmode=verify-full';
          }),
        }),
        says: () => `${place()} does not speak TLS; set ssl = on at the server`,
      },
      {
        why: "an authority's file that is not there",
        environment: () => ({
          MILLWRIGHT_DATABASE_URL: at((url) => {
            url.search = `?sslrootcert=/nowhere/${HIDDEN}`;
          }),
        }),
        says: () =>
          `${place()} cannot be reached with what the URL names: a certificate, a key or a socket of it is not ` +
          'there; mend the file or folder in MILLWRIGHT_DATABASE_URL',
      },
      {
        why: 'a direct URL that leads elsewhere',
        environment: () => ({ MILLWRIGHT_DATABASE_DIRECT_URL: server.url('other') }),
        says: () =>
          `${place()} is not the database of MILLWRIGHT_DATABASE_URL; let both URLs lead to the same database`,
      },
      {
        why: 'a direct URL that leads nowhere',
        environment: () => ({ MILLWRIGHT_DATABASE_DIRECT_URL: `postgres://${HIDDEN}@127.0.0.1:1/mill` }),
        says: () => 'PostgreSQL at 127.0.0.1:1 refuses the connection; .* MILLWRIGHT_DATABASE_DIRECT_URL',
      },
    ])('is refused: $why', async ({ environment, says }) => {
      const { code, lines } = await started(environment());
      expect(lines).toEqual([expect.stringMatching(new RegExp(`^millwright: ${says()}`))]);
      expect(code).toBe(3);
      expect(lines.join('')).not.toContain(HIDDEN);
    });

    it('is refused by a server that takes no writes', async () => {
      await server.set('default_transaction_read_only', 'on');
      try {
        const { lines } = await eventually('it takes none', () => started({}).catch(() => undefined));
        expect(lines).toEqual([
          `millwright: ${place()} takes no writes: it is a standby, or set to read only; let ` +
            'MILLWRIGHT_DATABASE_URL lead to the primary',
        ]);
      } finally {
        await server.set('default_transaction_read_only', 'off');
      }
    });

    it("that waits for another process's migration ends when it is asked to", async () => {
      await server.ask('CREATE DATABASE held');
      const holder = new Client(server.url('held'));
      await holder.connect();
      let waiting: ChildProcess | undefined;
      try {
        await holder.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
        waiting = spawn(process.execPath, [...nodeArguments('test/support/services/serve-program.ts'), 'start'], {
          cwd: REPOSITORY,
          stdio: 'ignore',
          env: {
            PATH: process.env['PATH'],
            MILLWRIGHT_PORT: String(await freePort()),
            MILLWRIGHT_DATA_DIR: mkdtempSync(join(folder, 'data-')),
            ...installation.environment,
            MILLWRIGHT_DATABASE_URL: server.url('held'),
          },
        });
        const ended = once(waiting, 'exit');
        await eventually('it waits', async () =>
          (await holder.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rowCount === 1
            ? true
            : undefined,
        );
        waiting.kill('SIGTERM');
        expect(await ended).toEqual([0, null]);
      } finally {
        waiting?.kill('SIGKILL');
        await holder.end();
      }
    }, 120_000);

    it("of a second process is refused whose keys or program are not the first one's, which goes on", async () => {
      await eventually('it takes writes', async () =>
        (await server.ask<{ of: string }>("SELECT current_setting('transaction_read_only') AS of"))[0]?.of === 'off'
          ? true
          : undefined,
      );
      const dataDir = mkdtempSync(join(folder, 'first-'));
      const first = await startServiceProcess(dataDir, {
        ...installation.environment,
        MILLWRIGHT_RUN_CONCURRENCY: '0',
      });
      try {
        const wrong = join(folder, 'wrong-key');
        writeFileSync(wrong, '08'.repeat(32), { mode: 0o600 });
        expect(await started({ MILLWRIGHT_MASTER_KEY_FILE: wrong })).toEqual({
          code: 64,
          lines: [
            'millwright: the master key is not the one of this database; set MILLWRIGHT_MASTER_KEY_FILE to that one ' +
              '(it is changed by millwright keys rotate-master, never by another file)',
          ],
        });
        expect(await started({ MILLWRIGHT_UID_KEY_FILE: wrong })).toEqual({
          code: 64,
          lines: [expect.stringContaining('the UID key is not the one this database was made with; set ') as string],
        });
        await server.ask(
          "INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture9999999999999')",
          'mill',
        );
        await server.ask('UPDATE schema_reader SET oldest = 99', 'mill');
        expect(await started({})).toEqual({
          code: 64,
          lines: [
            'millwright: the database holds migration FromTheFuture9999999999999, which this version does not ' +
              'know: start the version that wrote it, or a newer one',
          ],
        });
        await server.ask("DELETE FROM migrations WHERE name LIKE 'FromTheFuture%'", 'mill');
        await server.ask('UPDATE schema_reader SET oldest = 13', 'mill');
        expect(
          (await fetch(`${first.url}/api/v1/factory`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).status,
        ).toBe(200);
      } finally {
        first.signal('SIGTERM');
        expect(await first.ended).toBe(0);
      }
    }, 120_000);
  },
);
