/**
 * Factories of one git host share its back-off, while secrets move, other hosts are followed and people are answered at
 * once. contract §9.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { startGitServer, type GitServer } from '../../support/git/git-server.ts';
import {
  deliver,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
} from '../../support/factories/factory-files.ts';
import { bootService, eventually, type TestService } from '../../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const FACTORIES = 10;
let away: GitServer;
let well: GitServer;
let service: TestService;
let uids: string[];
let other: string;

beforeAll(async () => {
  [away, well] = await Promise.all([startGitServer(), startGitServer()]);
  writeFileSync(`${well.caFile}.both`, readFileSync(well.caFile, 'utf8') + readFileSync(away.caFile, 'utf8'));
  service = await bootService({
    environment: { MILLWRIGHT_GIT_CA_FILE: `${well.caFile}.both`, MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  await service.secret('hook-token', TOKEN);
  uids = await Promise.all(Array.from({ length: FACTORIES }, (_, at) => following(away, `f${at}`)));
  other = await following(well, 'other');
});

afterAll(async () => {
  await service.stop();
  await Promise.all([away.close(), well.close()]);
});

function following(git: GitServer, slug: string): Promise<string> {
  git.createRepository(slug).commit({ [webhookPath('orders')]: webhookFile('hook-token') });
  return service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main' });
}

const conditionOf = async (uid: string) => (await statusOf(service, uid)).condition;
const repositoriesAsked = (): Set<string> => new Set(away.requests.map(({ path }) => path.split('/')[1] ?? ''));

/**
 * All look at once, and none for a person: as their timers would, which spare what was looked at within the interval.
 */
function poll(): void {
  for (const uid of uids) service.service.loops.notice(uid, 'watcher');
}

/** Failed passes that were recorded for their failure alone: a secret that moves is recorded for itself. */
const failuresOf = async (uid: string): Promise<(string | null)[]> =>
  (await syncsOf(service, uid))
    .filter(({ ending, changes }) => ending === 'failed' && changes.length === 0)
    .map(({ reason }) => reason);

it(
  'a host in an outage is left alone by its factories, whose secrets move, and is followed by all of them when it ' +
    'is back',
  async () => {
    away.fault = { kind: 'status', status: 503 };
    await syncAndGetStatus(service, uids[0] ?? '');
    await syncAndGetStatus(service, uids[1] ?? '');
    away.forget();
    poll();
    for (const uid of uids)
      await eventually('its pass failed', async () =>
        (await conditionOf(uid)).reason === 'unreachable' ? true : undefined,
      );
    expect(repositoriesAsked().size).toBeLessThan(FACTORIES / 2); // probes by turns, not ten factories
    const backedOff = await Promise.all(uids.map(conditionOf));
    expect(
      backedOff.filter(({ message }) => /does not answer and is backed off until/.test(message ?? '')).length,
    ).toBeGreaterThan(5);
    expect(backedOff.every(({ message }) => (message?.match(/https:/g)?.length ?? 0) <= 1)).toBe(true);

    await service.secret('hook-token', `${TOKEN}-rotated`);
    await eventually('the rotated token counts', async () =>
      (await deliver(service.ingressUrl('f7', 'orders'), `${TOKEN}-rotated`)).status === 202 ? true : undefined,
    );
    expect((await deliver(service.ingressUrl('f7', 'orders'), TOKEN)).status).toBe(401);

    away.forget();
    expect((await syncAndGetStatus(service, uids[7] ?? '')).condition).toMatchObject({
      ending: 'failed',
      reason: 'unreachable',
      message: expect.stringContaining('/f7'),
    });
    expect(repositoriesAsked()).toContain('f7'); // people are answered by the host itself
    expect((await syncAndGetStatus(service, other)).condition.ending).toBe('applied');

    poll();
    await eventually('the passes ended', async () =>
      (await Promise.all(uids.map(conditionOf))).every(({ ending }) => ending === 'failed') ? true : undefined,
    );
    // an outage is recorded once a factory
    for (const uid of uids) expect(await failuresOf(uid)).toEqual(['unreachable']);

    away.fault = undefined;
    away.forget();
    await eventually(
      'all follow again, and nobody asked',
      async () =>
        (await Promise.all(uids.map(conditionOf))).every(({ ending }) => ending === 'applied') ? true : undefined,
      200_000,
    );
    expect(repositoriesAsked().size).toBe(FACTORIES);
  },
  300_000,
);

it('a host that hangs leaves git processes to the factories of others', async () => {
  away.fault = { kind: 'hang' };
  away.forget();
  poll();
  await eventually('six of its factories wait for it', () => (repositoriesAsked().size === 6 ? true : undefined));
  expect((await syncAndGetStatus(service, other)).condition.ending).toBe('applied');
  expect(repositoriesAsked().size).toBe(6);
  // one that waits for its turn is no obstacle
  expect((await service.api('DELETE', `/factory/${uids[9]}`)).status).toBe(204);
  away.fault = undefined;
});
