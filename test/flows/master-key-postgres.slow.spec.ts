/** Another master key on PostgreSQL, beside two replicas that take deliveries, by a command that is killed twice. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../apps/server/config/config.ts';
import { rotateMasterKey } from '../../apps/server/keys/master-key-rotation.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { exchange } from '../support/network/raw-http.ts';
import {
  installationOn,
  manyWebhooks,
  TOKEN,
  uidsOfMany,
  type Installation,
} from '../support/services/services-on-postgres.ts';
import type { TestService } from '../support/services/service.ts';
import type { FactoryFolder } from '../support/factories/factory-folder.ts';
import { nodeArguments } from '../support/processes/node-arguments.ts';

const server = await postgresServer();
const suite = server.ok ? describe : describe.skip;

let database: Awaited<ReturnType<typeof freshDatabase>> | undefined;
let installation: Installation;
let folder: FactoryFolder;
let box: string;

beforeAll(async () => {
  if (server.ok) database = await freshDatabase(server.url);
  box = mkdtempSync(join(tmpdir(), 'millwright-rotation-'));
  folder = await manyWebhooks();
}, 300_000);

afterAll(async () => {
  await installation?.close();
  await database?.drop();
  await folder?.remove();
  rmSync(box, { recursive: true, force: true });
});

/** The command as a process; answers its signal or exit code. */
function rotate(environment: Readonly<Record<string, string>>, parts?: number): Promise<number | string> {
  const child = spawn(
    process.execPath,
    [
      ...nodeArguments('test/support/processes/rotating-master-key.ts'),
      ...(parts === undefined ? [] : [String(parts)]),
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env['PATH'], ...environment } },
  );
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code ?? 'unknown')));
}

async function send(service: TestService, uid: string, id: string): Promise<number> {
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${TOKEN}`],
    ['X-Webhook-Id', id],
  ];
  return (await exchange(service.url, { target: `/webhooks/w/${uid}`, headers, body: '{}' })).status;
}

suite(`a rotation of the master key on PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  it('is finished by the third call, and no replica refuses a delivery', async () => {
    installation = installationOn(database?.url ?? '', { MILLWRIGHT_RUN_CONCURRENCY: '0' });
    const key = installation.environment['MILLWRIGHT_MASTER_KEY_FILE'] ?? '';
    // The second one has a copy of its own, as on another machine.
    const copy = join(box, 'master');
    const one = await installation.boot();
    copyFileSync(key, copy);
    const two = await installation.boot({ MILLWRIGHT_MASTER_KEY_FILE: copy });
    await one.secret('bearer', TOKEN);
    await one.factory('shop', folder.source);
    for (let n = 0; n < 250; n += 1) await one.secret(`more-${n}`, `value-number-${n}-of-many`);
    const environment = { ...installation.environment, MILLWRIGHT_DATA_DIR: join(box, 'command') };

    const early = rotateMasterKey({ config: readConfig(environment), nowMs: Date.now, waitMs: 7_000 });
    await expect(early).rejects.toThrow(/these processes do not have the next key: .*put the file .*master\.next/);
    copyFileSync(`${key}.next`, `${copy}.next`);

    const answers: number[] = [];
    const sending = new AbortController();
    const uids = uidsOfMany(one, ['shop']);
    const senders = [one, two].map(async (service, which) => {
      for (let n = 0; !sending.signal.aborted; n += 1) {
        answers.push(await send(service, uids[n % uids.length] ?? '', `${which}-${n}`));
        // Below what twenty webhooks may take in a minute.
        await new Promise((resolve) => setTimeout(resolve, 120));
      }
    });
    const rotateBesideSenders = async (parts?: number): Promise<number | string> => {
      const before = answers.length;
      const ended = await rotate(environment, parts);
      expect(answers.length).toBeGreaterThan(before + 1);
      return ended;
    };
    expect(await rotateBesideSenders(1)).toBe('SIGKILL');
    // Between: a new value by a replica, and a third replica that begins.
    await two.secret('bearer', TOKEN);
    const three = await installation.boot();
    answers.push(await send(three, uids[0] ?? '', 'three'));
    expect(await rotateBesideSenders(2)).toBe('SIGKILL');
    expect(await rotateBesideSenders()).toBe(0);
    answers.push(await send(three, uids[0] ?? '', 'three-after'));
    sending.abort();
    await Promise.all(senders);
    expect(answers.filter((status) => status !== 202)).toEqual([]);
    expect(existsSync(`${key}.next`)).toBe(false);

    // The other machine still has both files, and begins with them; its command moves them.
    await two.stop({ keepData: true });
    const again = await installation.boot({ MILLWRIGHT_MASTER_KEY_FILE: copy });
    expect(await send(again, uids[1] ?? '', 'again')).toBe(202);
    expect(await rotate({ ...environment, MILLWRIGHT_MASTER_KEY_FILE: copy })).toBe(0);
    expect(readFileSync(copy, 'utf8')).toBe(readFileSync(key, 'utf8'));
    expect(await send(again, uids[1] ?? '', 'moved')).toBe(202);
  }, 300_000);
});
