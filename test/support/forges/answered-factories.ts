/** Factories whose pull requests are answered at a forge of our own, over real git repositories. */
import type { ForgeKind } from '#reconcile';
import { syncAndGetStatus } from '../factories/factory-files.ts';
import { ONE, type FollowedFactory, type ServiceWithRepositories } from '../git/git-factories.ts';
import type { FakeApp } from './fake-app.ts';
import { startFakeForge, type FakeForge } from './fake-forge.ts';

/** Whoever makes one closes its forge. */
export interface AnsweredFactory extends FollowedFactory {
  forge: FakeForge;
}

/** A factory whose source names a forge of its own, or the one of another; with an app in place of a token. */
export async function answeredFactory(
  { service, following }: ServiceWithRepositories,
  kind: ForgeKind,
  of?: AnsweredFactory,
  app?: FakeApp,
): Promise<AnsweredFactory> {
  const forge = of?.forge ?? (await startFakeForge(kind));
  forge.app = app ?? forge.app;
  const made = await following(ONE, of);
  const name = `forge-${made.slug}`;
  const grants = { factories: '*', uses: ['forge'] };
  const kept = await service.api('PUT', `/secrets/${name}`, { value: app?.privateKey ?? forge.token, grants });
  expect(kept.status).toBe(200);
  const source = {
    kind: 'git',
    url: made.url,
    branch: 'main',
    forge: kind,
    forge_secret: name,
    forge_url: forge.api,
    forge_repository: 'acme/shop',
    ...(app === undefined ? {} : { forge_app: app.id }),
  };
  const changed = await service.api('PATCH', `/factory/${made.uid}`, { source });
  expect(changed).toMatchObject({ status: 200, body: { source } });
  await syncAndGetStatus(service, made.uid);
  return { ...made, forge };
}

/** A branch with a pull request, or one more commit on it. Answers its head, which the forge lists at once. */
export function pushPull(
  { repository, forge }: AnsweredFactory,
  number: number,
  files: Record<string, string | null>,
  more: { isFork?: boolean; title?: string } = {},
): string {
  const branch = `topic-${number}`;
  const opened = forge.pulls.get(number);
  if (opened === undefined) repository.git('update-ref', `refs/heads/${branch}`, repository.tip());
  const mergeBase = opened?.mergeBase ?? repository.tip();
  const head = repository.commit(files, { branch });
  repository.git('update-ref', `refs/${forge.kind === 'gitlab' ? 'merge-requests' : 'pull'}/${number}/head`, head);
  forge.open({ ...opened, number, head, mergeBase, commits: [...(opened?.commits ?? []), head], ...more });
  return head;
}
