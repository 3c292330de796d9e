/**
 * The situation "killed anywhere": a service that is killed in the middle of a pass converges after its restart to the
 * state that no crash would have given. contract §9; explanation: Invariants (I10). SYNC_SEED repeats the decisions of
 * the storm.
 */
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import {
  automationFile,
  automationPath,
  webhookFile,
  webhookPath,
  type FactoryStatus,
} from '../../support/factories/factory-files.ts';
import { startGitServer, type Fault, type GitServer, type TestRepository } from '../../support/git/git-server.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/services/service-process.ts';
import { eventually } from '../../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const FILES = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders']),
};
const PROGRAM = 'test/support/processes/crashing-passes.ts';
const SEED = Number(process.env['SYNC_SEED'] ?? Date.now() % 1_000_000);
const KILLS = 18;
/** Longest that git waits for a host that says nothing, and some more. */
const GIT_SILENT_MS = 40_000;
/** Deliveries between two kills: together they stay below what one webhook takes in a minute. */
const DELIVERIES_EACH = 2;
const FAULTS: readonly (Fault | undefined)[] = [
  undefined,
  undefined,
  { kind: 'slow', delayMs: 60 },
  { kind: 'slow', delayMs: 120, only: 'fetch' },
  { kind: 'hang', only: 'fetch' },
  { kind: 'cut', afterBytes: 40, only: 'fetch' },
];

let git: GitServer;
let repository: TestRepository;
let dataDir: string;
let service: ServiceProcess;
let uid: string;
let url: string;

beforeAll(async () => {
  git = await startGitServer();
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-kills-'));
  repository = git.createRepository('factory');
  repository.commit(FILES);
  await start();
  await service.api('PUT', '/secrets/hook-token', { value: TOKEN });
  ({ uid } = (await service.api('POST', '/factory', {
    slug: 'main',
    source: { kind: 'git', url: git.urlOf('factory'), branch: 'main' },
  })) as { uid: string });
  await converged();
  const { webhooks } = (await service.api('GET', `/factory/${uid}/webhooks`)) as { webhooks: { uid: string }[] };
  url = `/webhooks/w/${webhooks[0]?.uid ?? ''}`;
}, 240_000);

afterAll(async () => {
  service.signal('SIGKILL');
  await service.ended;
  await git.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  service = await startServiceProcess(
    dataDir,
    { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_LOG_LEVEL: 'error' },
    PROGRAM,
  );
}

async function kill(): Promise<void> {
  service.signal('SIGKILL');
  await service.ended;
}

const status = async (): Promise<FactoryStatus> =>
  (await service.api('GET', `/factory/${uid}/status`)) as unknown as FactoryStatus;

/** Waits until the tip is what is applied, and everything is done that was asked for. */
function converged(): Promise<FactoryStatus> {
  return eventually(
    'the tip is applied',
    async () => {
      const now = await status();
      const isDone =
        now.revision_applied === `main@sha1:${repository.tip()}` &&
        now.condition.ending === 'applied' &&
        now.generation_handled === now.generation_requested;
      return isDone ? now : undefined;
    },
    240_000,
  );
}

/** What is live is exactly what the files of the tip say. */
function expectTip({ inventory, conditions }: FactoryStatus): void {
  const files = repository.git('ls-tree', '-r', '--name-only', 'main').trim().split('\n').sort();
  expect(inventory.map(({ file }) => file).sort()).toEqual(files);
  expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
}

/** Status of a delivery; undefined when nobody answered. */
async function deliver(id: string, path = url): Promise<number | undefined> {
  try {
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      body: JSON.stringify({ id }),
      headers: { authorization: `Bearer ${TOKEN}`, 'x-millwright-delivery-id': id },
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

/** Git processes that work for this service: on its cache, or with its git server. */
async function gitProcesses(): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (
      /(^|\/)git/.test(command) &&
      !command.includes('http-backend') &&
      (folder.startsWith(dataDir) || command.includes(dataDir) || command.includes(git.url))
    )
      found.push(`${pid} ${command}`);
  }
  return found;
}

async function lockFiles(): Promise<string[]> {
  return (await readdir(dataDir, { recursive: true })).filter((path) => path.endsWith('.lock'));
}

/** A process that nobody waits for any more gives up when its host has been silent for long enough. */
async function expectNoGitLeft(): Promise<void> {
  await eventually(
    'no git process is left',
    async () => ((await gitProcesses()).length === 0 ? true : undefined),
    GIT_SILENT_MS,
  ).catch(async () => expect(await gitProcesses()).toEqual([]));
  expect(await lockFiles()).toEqual([]);
}

describe('killed anywhere', () => {
  it(
    'in the middle of a fetch, of an apply, before what was committed is published, and before the pass is ' +
      'recorded',
    async () => {
      const points: [string, () => Promise<unknown>][] = [
        ['fetching', () => eventually('the fetch hangs', () => (git.count('fetch') > 0 ? true : undefined))],
        ...['before-apply', 'in-mid-apply', 'before-publish', 'before-record'].map(
          (point): [string, () => Promise<unknown>] => [
            point,
            () =>
              eventually(`the pass stands ${point}`, () =>
                service.errors().includes(`STANDS ${point}\n`) ? true : undefined,
              ),
          ],
        ),
      ];
      for (const [point, stands] of points) {
        const before = await status();
        const tip = repository.commit({
          [webhookPath(point)]: webhookFile('hook-token'),
          [webhookPath(`${point}-too`)]: webhookFile('hook-token'),
        });
        git.forget();
        git.fault = point === 'fetching' ? { kind: 'hang', only: 'fetch' } : undefined;
        await service.api('POST', `/factory/${uid}/sync`);
        await stands();
        if (point === 'fetching') expect(await gitProcesses()).not.toEqual([]);
        await kill();
        git.fault = undefined;
        // All of it is there or nothing is: never the half of a revision.
        const [revision, webhooks] = storedNow();
        const isApplied = revision === `main@sha1:${tip}`;
        expect([point, isApplied]).toEqual([point, point === 'before-publish' || point === 'before-record']);
        expect(webhooks.filter((slug) => slug.startsWith(point))).toHaveLength(isApplied ? 2 : 0);
        // The tip is as it was, so that the next process does not stand still in the same place.
        const further = repository.commit({
          [webhookPath(point)]: null,
          [webhookPath(`${point}-x`)]: webhookFile('hook-token'),
        });
        await start();
        expect(await deliver(`after ${point}`)).toBe(202);
        const now = await converged();
        expect(now.revision_applied).toBe(`main@sha1:${further}`);
        expect(now.generation_handled).toBeGreaterThan(before.generation_handled);
        expectTip(now);
      }
      await expectNoGitLeft();
    },
    240_000,
  );

  it(`${KILLS} times at random, while commits and deliveries go on (SYNC_SEED=${SEED})`, async () => {
    const random = seededRandom(SEED);
    const accepted = new Set<string>();
    const unanswered: string[] = [];
    const send = async (id: string): Promise<void> => {
      const answer = await deliver(id);
      if (answer === 202) accepted.add(id);
      else if (answer === undefined) unanswered.push(id);
      else throw new Error(`a delivery was answered ${answer}`);
    };
    for (let round = 0; round < KILLS; round += 1) {
      const name = `w${Math.floor(random() * 6)}`;
      repository.commit({
        [webhookPath(name)]: random() < 0.3 ? null : webhookFile('hook-token', `description: round ${round}`),
        [webhookPath('kept')]: webhookFile('hook-token', `description: round ${round}`),
      });
      git.fault = FAULTS[Math.floor(random() * FAULTS.length)];
      const asked = service.ask('POST', `/factory/${uid}/sync`).catch(() => undefined);
      const sent = Promise.all(Array.from({ length: DELIVERIES_EACH }, (_, n) => send(`d-${round}-${n}`)));
      await sleep(random() * 250);
      await kill();
      await Promise.all([asked, sent]);
      await start();
    }
    git.fault = undefined;
    await service.api('POST', `/factory/${uid}/sync`);
    expectTip(await converged());
    for (const id of unanswered.splice(0)) await send(id); // as a sender would: the same delivery again
    expect(unanswered).toEqual([]);
    expect(accepted.size).toBe(KILLS * DELIVERIES_EACH);
    await expectNoGitLeft();
    await kill();
    const logged = acceptedEntries();
    expect([...logged].filter(([, times]) => times !== 1)).toEqual([]);
    expect([...logged.keys()].sort()).toEqual([...accepted].sort());
  }, 360_000);
});

/** Applied revision and live webhooks, as the killed process left them. */
function storedNow(): [string | null, string[]] {
  return stored((database) => [
    (database.prepare('SELECT revision_applied FROM factory').get() as { revision_applied: string | null })
      .revision_applied,
    (database.prepare('SELECT slug FROM webhook WHERE deleted_at IS NULL').all() as { slug: string }[]).map(
      ({ slug }) => slug,
    ),
  ]);
}

/** Deliveries that the log says were accepted, each with the number of its entries. */
function acceptedEntries(): Map<string, number> {
  return stored((database) => {
    const found = database
      .prepare(
        "SELECT delivery_id, count(*) AS times FROM delivery WHERE outcome = 'accepted' " +
          "AND delivery_id LIKE 'd-%' GROUP BY delivery_id",
      )
      .all();
    return new Map(
      (found as { delivery_id: string; times: number }[]).map(({ delivery_id: id, times }) => [id, times]),
    );
  });
}

function stored<T>(look: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  try {
    return look(database);
  } finally {
    database.close();
  }
}
