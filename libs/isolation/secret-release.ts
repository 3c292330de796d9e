/**
 * Whether the value of a secret may leave the service for a host: hosts belong to secrets, not to whoever names an
 * address. contract §2.2 (Managed secrets).
 */
import { formatTarget, hostPatternOfUrl, matches, readHostPattern, readTarget, type Host } from './egress-hosts.ts';

/** `*`: any; a list of patterns; null: none yet, the first one that it is sent to is its host from then on. */
export type HostGrant = '*' | null | readonly string[];

export interface SecretRelease {
  /** Of errors. */
  name: string;
  grant: { uses: readonly string[]; hosts: HostGrant };
  /** Where it is to go: `host:port`. */
  host: string;
  /** `injection`: put into a request of a run outside its sandbox, for which it is granted to runs. */
  use: 'git' | 'forge' | 'injection';
}

/** `binds`: released only once this has become its host; whoever is second there asks again. */
export type ReleaseVerdict =
  | { ok: true; binds?: string }
  | { ok: false; reason: 'use' | 'host'; /** For people; names no value. */ message: string };

/** What a host without a port stands for: https and ssh. */
const DEFAULT_PORTS: readonly number[] = [443, 22];

/** Decides on one release. Never throws: what is no host gets nothing. */
export function mayReleaseSecret({ name, grant, host, use }: SecretRelease): ReleaseVerdict {
  const needed = use === 'injection' ? 'run' : use;
  if (!grant.uses.includes(needed))
    return { ok: false, reason: 'use', message: `the secret ${name} is not granted for ${needed}` };
  const target = readTarget(host);
  if (target === undefined)
    return { ok: false, reason: 'host', message: `the secret ${name} is not sent to what is no host` };
  if (grant.hosts === '*') return { ok: true };
  if (grant.hosts === null) return { ok: true, binds: hostEntryOf(target.host, target.port) };
  if (grant.hosts.some((entry) => isFor(entry, target.host, target.port))) return { ok: true };
  const wanted = hostEntryOf(target.host, target.port);
  const now = grant.hosts.length === 0 ? 'no host' : grant.hosts.join(', ');
  return {
    ok: false,
    reason: 'host',
    message:
      `the secret ${name} is for ${now} and is not sent to ${wanted}; let it go there ` +
      `(millwright secrets grant ${name} --hosts ${[...grant.hosts, wanted].join(',')}), or name another secret`,
  };
}

/**
 * Why a secret is not sent to an address, as far as grants tell beforehand: of those that have a list of hosts, by
 * name.
 */
export function releaseProblemOf(
  grants: ReadonlyMap<string, HostGrant>,
): (name: string, url: string) => string | undefined {
  return (name, url) => {
    const hosts = grants.get(name);
    const host = releaseTargetOf(url);
    if (hosts === undefined || hosts === null || host === undefined) return undefined;
    const verdict = mayReleaseSecret({ name, grant: { uses: ['run'], hosts }, host, use: 'injection' });
    return verdict.ok ? undefined : verdict.message;
  };
}

/** Whether a text can stand in a list of hosts: `example.com`, `*.example.com`, `example.com:8443`, `[::1]:8080`. */
export function isHostEntry(text: string): boolean {
  return readHostPattern(text) !== undefined;
}

/** The `host:port` that a URL leads to, also of `ssh://` and `user@host:path`; undefined: no host in it. */
export function releaseTargetOf(url: string): string | undefined {
  const pattern = hostPatternOfUrl(url);
  return pattern && formatTarget(pattern.host, pattern.ports[0] ?? 0);
}

function isFor(entry: string, host: Host, port: number): boolean {
  const pattern = readHostPattern(entry);
  if (pattern === undefined) return false;
  // Two ports are what readHostPattern says of an entry that names none.
  const ports = pattern.ports.length > 1 ? DEFAULT_PORTS : pattern.ports;
  return matches({ ...pattern, ports }, host, port);
}

function hostEntryOf(host: Host, port: number): string {
  const target = formatTarget(host, port);
  return DEFAULT_PORTS.includes(port) ? target.slice(0, target.lastIndexOf(':')) : target;
}
