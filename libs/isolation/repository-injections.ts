/**
 * Credentials of a run's repositories, added outside of its sandbox to what git asks of them and to nothing else.
 * contract §10.5 (Brokered remotes).
 */
import { hostPatternOfUrl, type HostPattern } from './egress-hosts.ts';
import type { HeaderInjection, HostInjections } from './host-injections.ts';

/** A repository of the run's environment. */
export interface BrokeredRepository {
  /** Without credentials. */
  url: string;
  /** Undefined: it is read by everybody. */
  credential?: string;
  /** Whether the run may push to it. */
  push: boolean;
}

/**
 * What is added, by host. `passesOthers`: whether the run may reach the host for something else than its repositories,
 * which it then does without a credential.
 */
export function repositoryInjections(
  repositories: readonly BrokeredRepository[],
  passesOthers: (host: HostPattern) => boolean,
): HostInjections[] {
  return repositories.flatMap(({ url, credential, push }) => {
    const pattern = hostPatternOfUrl(url);
    if (credential === undefined || pattern === undefined || !url.startsWith('https://')) return [];
    const { hostname, port, pathname } = new URL(url);
    // A star would stand for other repositories.
    if (pathname.includes('*') || hostname.startsWith('[')) return [];
    const headers = spellings(pathname.replace(/\/+$/, '')).flatMap((path) => gitRequests(path, credential, push));
    return [{ host: hostname, port: port === '' ? 443 : Number(port), headers, passesOthers: passesOthers(pattern) }];
  });
}

/** With and without `.git`: hosts take both, and so do people. */
function spellings(path: string): string[] {
  return path.endsWith('.git') ? [path, path.slice(0, -4)] : [path, `${path}.git`];
}

/** The smart protocol: what there is, and the exchange of one service. */
function gitRequests(path: string, credential: string, push: boolean): HeaderInjection[] {
  const services = ['git-upload-pack', ...(push ? ['git-receive-pack'] : [])];
  const value = `Basic ${Buffer.from(`x-access-token:${credential}`).toString('base64')}`;
  const common = { secret: `the credential of ${path}`, header: 'authorization', value, plain: credential };
  return services.flatMap((service) => [
    { ...common, methods: ['GET'], paths: [`${path}/info/refs`], query: `service=${service}` },
    { ...common, methods: ['POST'], paths: [`${path}/${service}`], query: '' },
  ]);
}

/** Of several lists those of one host together: what any of them refuses to others is refused. */
export function mergedInjections(lists: readonly HostInjections[]): HostInjections[] {
  const byHost = new Map<string, HostInjections>();
  for (const one of lists) {
    const key = `${one.host}:${one.port}`;
    const before = byHost.get(key);
    byHost.set(key, {
      ...one,
      headers: [...(before?.headers ?? []), ...one.headers],
      passesOthers: (before?.passesOthers ?? true) && one.passesOthers === true,
    });
  }
  return [...byHost.values()];
}
