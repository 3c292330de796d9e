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
}

export interface ServiceWithRepositories {
  git: GitServer;
  service: TestService;
  /** A factory of its own, following the repository's main branch over TLS. */
  following(files: Record<string, string>): Promise<FollowedFactory>;
  stop(): Promise<void>;
}

/** Boots both; passes happen when a test asks for them. */
export async function bootWithRepositories(): Promise<ServiceWithRepositories> {
  const git = await startGitServer();
  const service = await bootService({
    environment: { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  await service.secret('hook-token', TOKEN);
  let count = 0;
  return {
    git,
    service,
    async following(files) {
      const slug = `f${(count += 1)}`;
      const repository = git.createRepository(slug);
      repository.commit(files);
      const uid = await service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main' });
      return { slug, uid, repository };
    },
    async stop() {
      await service.stop();
      await git.close();
    },
  };
}
