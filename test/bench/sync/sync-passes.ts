/**
 * What passes cost: one that finds nothing new beside `git ls-remote`, and full ones beside what git alone takes to
 * bring the files.
 */
import { join } from 'node:path';
import { createRepository } from '../../support/git/git-repository.ts';
import { figureOf, timed, type Figure } from '../figures/figures.ts';
import { automationFile, factoryFiles, git, workCopy, type GitHost, type Service } from './sync-stage.ts';

/** One factory may have 2,000 definition files: these are all of them. */
const WEBHOOKS = 20;
const AUTOMATIONS = 1_980;

/** A pass that finds nothing new, as somebody waits for it over the API. */
export async function idlePasses(host: GitHost, service: Service, box: string, rounds: number): Promise<Figure[]> {
  createRepository(host.root, 'idle').commit(factoryFiles(WEBHOOKS, 80));
  const { uid } = await service.api('POST', '/factory', {
    slug: 'idle',
    source: { kind: 'git', url: `${host.url}/idle`, branch: 'main' },
  });
  const sync = (): Promise<unknown> => service.api('POST', `/factory/${String(uid)}/sync?wait=true`);
  const look = (): Promise<unknown> =>
    git(['ls-remote', '--exit-code', `${host.url}/idle`, 'refs/heads/main'], box, host.caFile);
  for (let warming = 0; warming < 3; warming += 1) await Promise.all([sync(), look()]);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await timed(sync));
    bare.push(await timed(look));
  }
  return [figureOf('pass that finds nothing new, over the API', ours, { what: 'git ls-remote', measured: bare }, 2)];
}

/** The first pass of a large factory, and passes that change one automation of it. */
export async function fullPasses(
  host: GitHost,
  service: Service,
  box: string,
  firsts: number,
  changes: number,
): Promise<Figure[]> {
  const files = factoryFiles(WEBHOOKS, AUTOMATIONS);
  const [first, clones, changed, fetches]: [number[], number[], number[], number[]] = [[], [], [], []];
  let latest = { uid: '', slug: '' };
  for (let round = 0; round < firsts; round += 1) {
    const slug = `large-${round}`;
    createRepository(host.root, slug).commit(files);
    const { uid } = await service.api('POST', '/factory', {
      slug,
      source: { kind: 'git', url: `${host.url}/${slug}`, branch: 'main' },
    });
    latest = { uid: String(uid), slug };
    await service.api('POST', `/factory/${latest.uid}/sync?wait=true`);
    first.push(await latestPassMs(service, latest.uid, WEBHOOKS + AUTOMATIONS));
    clones.push(
      await timed(() =>
        git(['clone', '--quiet', '--depth=1', `${host.url}/${slug}`, join(box, slug)], box, host.caFile),
      ),
    );
  }
  const work = await workCopy(host, latest.slug, box);
  for (let round = 0; round < changes; round += 1) {
    await work.commit({
      [`automations/auto-${round}/automation.md`]: automationFile(
        round,
        `hook-${round % WEBHOOKS}`,
        `Changed in round ${round}.`,
      ),
    });
    await work.push();
    await service.api('POST', `/factory/${latest.uid}/sync?wait=true`);
    changed.push(await latestPassMs(service, latest.uid, 1));
    fetches.push(
      await timed(() => git(['pull', '--quiet', '--ff-only', 'origin', 'main'], join(box, latest.slug), host.caFile)),
    );
  }
  const what = `${WEBHOOKS} webhooks + ${AUTOMATIONS} automations`;
  return [
    figureOf(`first pass, ${what}`, first, { what: 'git clone --depth=1', measured: clones }),
    figureOf('pass that changes one automation of them', changed, { what: 'git pull', measured: fetches }),
  ];
}

/** How long the latest recorded pass took by its own account; throws unless it applied so many changes. */
async function latestPassMs(service: Service, uid: string, changes: number): Promise<number> {
  const { syncs } = (await service.api('GET', `/factory/${uid}/syncs?limit=1`)) as {
    syncs: { ending: string; changes: unknown[]; started_at: string; finished_at: string }[];
  };
  const [latest] = syncs;
  if (latest?.ending !== 'applied' || latest.changes.length !== changes)
    throw new Error(`the pass ended ${latest?.ending ?? 'nowhere'} with ${latest?.changes.length ?? 0} changes`);
  return Date.parse(latest.finished_at) - Date.parse(latest.started_at);
}
