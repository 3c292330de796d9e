/**
 * A forge that is away for an hour: no status is lost, and no sync waits for it. contract §9.9 (Feedback in pull
 * requests).
 */
import { syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { answeredFactory, pushPull, type AnsweredFactory } from '../support/forges/answered-factories.ts';
import { bootWithRepositories, type ServiceWithRepositories } from '../support/git/git-factories.ts';
import { eventually } from '../support/services/service.ts';

const MINUTE_MS = 60_000;
/** How long a forge is left alone at most. */
const RETRY_MS = 6 * MINUTE_MS;

let world: ServiceWithRepositories;
let of: AnsweredFactory;
/** How far the clocks of service and database are ahead. */
let skewMs = 0;

beforeAll(async () => {
  world = await bootWithRepositories({}, { nowMs: () => Date.now() + skewMs });
  of = await answeredFactory(world, 'github');
});
afterAll(async () => {
  await of?.forge.close();
  await world.stop();
});

const stateOf = (commit: string): string => of.forge.statusOf(commit, `millwright/${of.slug}`)?.state ?? 'none';

/** Merges a change, and syncs. The commit. */
async function applied(name: string): Promise<string> {
  const commit = of.repository.commit({ [webhookPath('orders')]: `${webhookFile('hook-token')}# ${name}\n` });
  const { revision_applied: revision } = await syncAndGetStatus(world.service, of.uid);
  expect(revision).toContain(commit);
  return commit;
}

it('loses no status while it is away for an hour, and no sync waits for it', async () => {
  await syncAndGetStatus(world.service, of.uid);
  // What was applied before anybody looked at the forge has no status.
  await eventually('it was asked once', () => of.forge.requests.length > 0 || undefined, 20_000);
  let asked = 0;
  of.forge.fault = () => ((asked += 1), 'away');
  const [merged, heads]: [string[], string[]] = [[], []];
  for (let tenth = 1; tenth <= 6; tenth += 1) {
    heads.push(pushPull(of, tenth, { [webhookPath(`p${tenth}`)]: webhookFile('hook-token') }));
    merged.push(await applied(`${tenth}-first`), await applied(`${tenth}-second`));
    const before = asked;
    skewMs += 10 * MINUTE_MS; // longer than it is left alone: it is asked again, and away
    merged.push(await applied(`${tenth}-third`));
    await eventually('it is asked again', () => asked > before || undefined, 20_000);
  }
  const { condition } = (await world.service.api('GET', `/factory/${of.uid}/status`)).body as { condition: object };
  expect(condition).toMatchObject({ ending: 'applied', reason: null });
  expect([...merged, ...heads].map(stateOf)).toEqual(Array(24).fill('none'));

  of.forge.fault = undefined;
  skewMs += RETRY_MS;
  await syncAndGetStatus(world.service, of.uid);
  await eventually(
    'every commit has its status',
    () => [...merged, ...heads].every((commit) => !['none', 'pending'].includes(stateOf(commit))) || undefined,
    60_000,
  );
  expect(new Set([...merged, ...heads].map(stateOf))).toEqual(new Set(['success']));
}, 300_000);
