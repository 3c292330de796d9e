/**
 * From a push to the first delivery that is answered by what was pushed, beside git alone taking the same commit the
 * same way.
 */
import { join } from 'node:path';
import { createRepository } from '../../support/git/git-repository.ts';
import { figureOf, timed, type Figure } from '../figures/figures.ts';
import { factoryFiles, git, pause, TOKENS, webhookFile, workCopy, type GitHost, type Service } from './sync-stage.ts';

const WEBHOOKS = 20;
const AUTOMATIONS = 80;
/** Notices wake a factory once a second: closer commits would wait for each other. */
const ROUND_MS = 1_100;
const POLL_EVERY_MS = 2;
/** From a commit to a delivery that meets it: what people wait for without a second look. */
const SERVED_MS_MAX = 2_000;
const SERVED_WITHIN_MS = 30_000;

/** Each round moves one webhook to the other secret: only the new state takes a delivery that is made with it. */
export async function pushes(host: GitHost, service: Service, box: string, rounds: number): Promise<Figure[]> {
  createRepository(host.root, 'pushed').commit(factoryFiles(WEBHOOKS, AUTOMATIONS));
  const { uid } = await service.api('POST', '/factory', {
    slug: 'pushed',
    source: { kind: 'git', url: `${host.url}/pushed`, branch: 'main', push_secret: 'push' },
  });
  await service.api('POST', `/factory/${String(uid)}/sync?wait=true`);
  const urls = await ingressUrls(service, String(uid));
  const work = await workCopy(host, 'pushed', box);
  await git(['clone', '--quiet', '--bare', `${host.url}/pushed`, join(box, 'bare')], box, host.caFile);
  const [commits, notices, fetches]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const token = (Math.floor(round / WEBHOOKS) + 1) % TOKENS.length;
    const begunAtMs = performance.now();
    await work.commit({ [`webhooks/hook-${round % WEBHOOKS}.yaml`]: webhookFile(token) });
    await work.push();
    const pushedAtMs = performance.now();
    await service.notify(String(uid));
    await untilServed(urls.get(`hook-${round % WEBHOOKS}`) ?? '', TOKENS[token] ?? '');
    const servedAtMs = performance.now();
    commits.push(servedAtMs - begunAtMs);
    notices.push(servedAtMs - pushedAtMs);
    fetches.push(
      pushedAtMs -
        begunAtMs +
        (await timed(() => git(['fetch', '--quiet', 'origin', 'main'], join(box, 'bare'), host.caFile))),
    );
    await pause(Math.max(0, pushedAtMs + ROUND_MS - performance.now()));
  }
  return [
    {
      ...figureOf('commit + push + notice → a delivery meets the new state', commits, {
        what: 'commit + push + git fetch',
        measured: fetches,
      }),
      p99Max: SERVED_MS_MAX,
    },
    figureOf('  of it: notice → a delivery meets the new state', notices),
  ];
}

async function ingressUrls(service: Service, uid: string): Promise<Map<string, string>> {
  const { webhooks } = (await service.api('GET', `/factory/${uid}/webhooks`)) as {
    webhooks: { slug: string; ingress_url: string }[];
  };
  if (webhooks.length !== WEBHOOKS) throw new Error(`${webhooks.length} webhooks are served`);
  return new Map(webhooks.map(({ slug, ingress_url: url }) => [slug, url]));
}

async function untilServed(url: string, token: string): Promise<void> {
  const deadline = performance.now() + SERVED_WITHIN_MS;
  for (;;) {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ order: Math.random() }),
    });
    if (status === 202) return;
    if (performance.now() > deadline)
      throw new Error(`the push was never served; the last delivery was answered ${status}`);
    await pause(POLL_EVERY_MS);
  }
}
