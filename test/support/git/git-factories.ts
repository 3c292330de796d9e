/** A service beside a git server, with factories that follow repositories of their own. */
import { automationFile, automationPath, webhookFile, webhookPath } from '../factories/factory-files.ts';
import { startGitServer, type GitServer, type TestRepository } from './git-server.ts';
import { bootService, type TestService } from '../services/service.ts';

/** What the webhooks of `ONE` expect. */
export const TOKEN = 'a-token-of-sixteen-or-more';

/** One webhook, and the automation that names it. */
export const ONE = {
  [webhookPath('orders')]: webhookFile('hook-token'),
  [automationPath('triage')]: automationFile(['orders']),
};

/** A factory and the repository that it follows. */
export interface FollowedFactory {
  slug: string;
  uid: string;
  repository: TestRepository;
  /** Address of the repository. */
  url: string;
}

export interface ServiceWithRepositories {
  git: GitServer;
  service: TestService;
  /** A factory of its own, following the main branch of a repository over TLS: of `shared`, or of a new one. */
  following(files: Record<string, string>, shared?: FollowedFactory): Promise<FollowedFactory>;
  stop(): Promise<void>;
}

/** Boots both; passes happen when a test asks for them. */
export async function bootWithRepositories(
  environment: Record<string, string> = {},
  clock: { nowMs?: () => number } = {},
): Promise<ServiceWithRepositories> {
  const git = await startGitServer();
  const service = await bootService({
    ...clock,
    environment: { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_SYNC_INTERVAL: '3600', ...environment },
  });
  await service.secret('hook-token', TOKEN);
  let count = 0;
  return {
    git,
    service,
    async following(files, shared) {
      const slug = `f${(count += 1)}`;
      const repository = shared?.repository ?? git.createRepository(slug);
      if (shared === undefined) repository.commit(files);
      const url = shared?.url ?? git.urlOf(slug);
      const uid = await service.factory(slug, { kind: 'git', url, branch: 'main' });
      return { slug, uid, repository, url };
    },
    async stop() {
      await service.stop();
      await git.close();
    },
  };
}
