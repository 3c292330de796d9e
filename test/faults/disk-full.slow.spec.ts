/**
 * A disk that fills up, for real: deliveries are told to come again before anything breaks, nothing that was
 * acknowledged is lost, and room that is made is enough to go on. A backup leaves deliveries their reserve. contract
 * §1.5, §5.8 (503).
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeBackup } from '../../apps/server/backup/backup.ts';
import { readConfig } from '../../apps/server/config/config.ts';
import { sqliteBytes } from '../../apps/server/store/backup/sqlite-backup.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { signIn } from '../support/services/sessions.ts';

const MIB = 1_048_576;
const DISK_MIB = 32;
const BALLAST_BYTES = 10 * MIB;
/** More than the disk holds. */
const DELIVERIES_MAX = 290;
/** Looks at the free bytes that are equal once nothing is written any more. */
const SETTLED_LOOKS = 5;
const TOKEN = 'bearer-token-of-the-tests';
const ADMIN_KEY = `mw_${'a'.repeat(43)}`;
/** Each takes 60 a minute. */
const WEBHOOKS = ['one', 'two', 'three', 'four', 'five'];

/** Whether this process may mount a disk of its own. */
function mayMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'millwright-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place], { stdio: 'ignore' });
    execFileSync('umount', [place], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const where = mayMount() ? describe : describe.skip;

where(`a disk of ${DISK_MIB} MiB${where === describe ? '' : ' (SKIPPED: this user may not mount a tmpfs)'}`, () => {
  let disk: string;
  let mill: TestService | undefined;
  let folder: FactoryFolder;
  let factory: string;

  beforeEach(async () => {
    disk = mkdtempSync(join(tmpdir(), 'millwright-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=700`, 'tmpfs', disk]);
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(BALLAST_BYTES));
    folder = await factoryFolder({
      webhooks: Object.fromEntries(WEBHOOKS.map((slug) => [slug, { secretName: 'bearer' }])),
      automations: { act: { webhooks: ['one'] } },
    });
  });

  afterEach(async () => {
    await mill?.stop({ keepData: true });
    mill = undefined;
    await folder.remove();
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  async function boot(reserveMib: number): Promise<TestService> {
    const dataDir = join(disk, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    mill = await bootService({
      dataDir,
      environment: {
        MILLWRIGHT_RUN_CONCURRENCY: '0',
        MILLWRIGHT_ADMIN_KEY: ADMIN_KEY,
        MILLWRIGHT_DISK_RESERVE_MB: String(reserveMib),
      },
    });
    await mill.secret('bearer', TOKEN);
    factory = await mill.factory('shop', folder.source);
    return mill;
  }

  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(disk);
    return bavail * bsize;
  };
  /** Behind a copy of the log that is under way. */
  async function settledFreeBytes(): Promise<number> {
    let free = freeBytes();
    for (let equal = 1; equal < SETTLED_LOOKS; equal += 1) {
      await sleep(100);
      const now = freeBytes();
      if (now !== free) equal = 0;
      free = now;
    }
    return free;
  }
  const slugOf = (n: number): string => WEBHOOKS[n % WEBHOOKS.length] as string;

  function send(service: TestService, n: number, { bytes = 190_000, token = TOKEN } = {}): Promise<RawAnswer> {
    const body = `{"n": ${n}, "noise": "${randomBytes(bytes * 0.75).toString('base64')}"}`;
    return exchange(service.url, {
      target: `/webhooks/w/${service.webhookUid('shop', slugOf(n))}`,
      headers: [
        ['Authorization', `Bearer ${token}`],
        ['X-Millwright-Delivery-Id', `d-${n}`],
      ],
      body,
    });
  }

  /** Delivers until something else than a 202 is answered. */
  async function fill(service: TestService): Promise<{ accepted: number; answer: RawAnswer }> {
    for (let accepted = 0; accepted < DELIVERIES_MAX; accepted += 1) {
      const answer = await send(service, accepted);
      if (answer.status !== 202) return { accepted, answer };
    }
    throw new Error('the disk did not fill');
  }

  /** Sends ten with a wrong token; answers what there is less of the disk behind them. */
  async function takenByRefused(service: TestService): Promise<number> {
    const before = await settledFreeBytes();
    for (let n = 0; n < 10; n += 1) expect((await send(service, n, { token: 'wrong', bytes: 100 })).status).toBe(401);
    return before - (await settledFreeBytes());
  }

  /** What the log has of every webhook, by the names of the deliveries. */
  async function logged(service: TestService): Promise<string[]> {
    const names: string[] = [];
    for (const slug of WEBHOOKS) {
      const { status, body } = await service.api(
        'GET',
        `/factory/${factory}/webhooks/${service.webhookUid('shop', slug)}/deliveries?limit=500`,
      );
      expect(status).toBe(200);
      names.push(
        ...(body['deliveries'] as { delivery_id: string; outcome: string }[])
          .filter(({ outcome }) => outcome === 'Accepted')
          .map(({ delivery_id: name }) => name),
      );
    }
    return names.sort();
  }

  async function becomes202(service: TestService, n: number): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const { status } = await send(service, n);
      if (status === 202) return;
      expect(status).toBe(503);
      if (attempt === 200) throw new Error('deliveries are not taken again');
      await sleep(50);
    }
  }

  const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `d-${n}`).sort();

  it('is left its reserve: deliveries are 503 until there is room, everything else goes on', async () => {
    const service = await boot(8);
    const { accepted, answer } = await fill(service);
    expect([answer.status, answer.body]).toEqual([503, '{"error": "temporarily unavailable"}']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(accepted).toBeGreaterThan(10);
    // Far from full: what is small may still be written.
    expect(freeBytes()).toBeGreaterThan(3 * MIB);
    for (let n = 0; n < 5; n += 1) expect((await send(service, 1_000 + n)).status).toBe(503);
    expect((await send(service, 1_010, { bytes: 300_000 })).status).toBe(503);
    const takenBytes = [await takenByRefused(service), await takenByRefused(service)];
    // The log, which is copied back now and then, takes its room only once.
    expect(Math.min(...takenBytes)).toBeLessThanOrEqual(65_536);
    expect(await logged(service)).toEqual(names(accepted));
    const ready = await fetch(`${service.url}/readyz`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining('disk_low')]);
    expect((await (await signIn(service, ADMIN_KEY)).api('GET', '/factory')).status).toBe(200);
    rmSync(join(disk, 'ballast'));
    await becomes202(service, accepted);
    expect(await logged(service)).toEqual(names(accepted + 1));
  });

  it('that is full to the last byte loses nothing that was acknowledged, and goes on', async () => {
    const service = await boot(0);
    const { accepted, answer } = await fill(service);
    expect(answer.status).toBe(503);
    for (let n = 0; n < 5; n += 1) expect((await send(service, 1_000 + n)).status).toBe(503);
    // Without a byte of room the log may not be put in order, which is what makes it a list: then it says so.
    const [slug = ''] = WEBHOOKS;
    const log = `/factory/${factory}/webhooks/${service.webhookUid('shop', slug)}/deliveries`;
    expect([200, 503]).toContain((await service.api('GET', log)).status);
    rmSync(join(disk, 'ballast'));
    await becomes202(service, accepted);
    expect(await logged(service)).toEqual(names(accepted + 1));
  });

  const BACKUP = 'one.millwright';

  const backUp = (service: TestService, reserveMib: number): Promise<unknown> =>
    makeBackup({
      config: readConfig({
        MILLWRIGHT_DATA_DIR: service.dataDir,
        MILLWRIGHT_DISK_RESERVE_MB: String(reserveMib),
      }),
      to: { file: join(disk, BACKUP) },
      encryption: undefined,
      withKeys: true,
      nowMs: 0,
    });

  /** What a backup has left outside of the data folder. */
  const ofBackups = (): string[] => readdirSync(disk).filter((name) => /backup|millwright$/.test(name));

  it('is left its reserve by a backup, too: one that does not fit is refused before it begins', async () => {
    const service = await boot(8);
    for (let n = 0; n < 10; n += 1) expect((await send(service, n)).status).toBe(202);
    const spareBytes = freeBytes() - 8 * MIB - sqliteBytes(service.dataDir);
    writeFileSync(join(disk, 'more'), Buffer.alloc(spareBytes));
    await expect(backUp(service, 8)).rejects.toThrow(
      /no space left for a backup in .* reserve of deliveries among them .* name a FILE on another disk$/,
    );
    expect(ofBackups()).toEqual([]);
    expect((await send(service, 10)).status).toBe(202);
    rmSync(join(disk, 'more'));
    rmSync(join(disk, 'ballast'));
    await backUp(service, 8);
    expect(ofBackups()).toEqual([BACKUP]);
  });

  it('that fills while a backup is made keeps nothing of it, and takes deliveries when there is room', async () => {
    const service = await boot(0);
    for (let n = 0; n < 10; n += 1) expect((await send(service, n)).status).toBe(202);
    const filling = setInterval(() => {
      if (ofBackups().length > 0) fillUp(join(disk, 'more'));
    }, 1);
    try {
      await expect(backUp(service, 0)).rejects.toThrow(/: there is no space left$/);
    } finally {
      clearInterval(filling);
    }
    expect(readdirSync(disk)).toContain('more');
    expect(ofBackups()).toEqual([]);
    rmSync(join(disk, 'more'));
    await becomes202(service, 10);
    expect(await logged(service)).toEqual(names(11));
    await backUp(service, 0);
    expect(ofBackups()).toEqual([BACKUP]);
  });
});

/** Writes to a file until the disk has no page left. */
function fillUp(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
