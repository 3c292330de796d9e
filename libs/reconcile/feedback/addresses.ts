/**
 * Where the interface of a forge is, and which repository is meant there: from the repository's address, unless the
 * source says otherwise. contract §9.9 (Feedback in pull requests).
 */
import { isAppId } from './forges/github-app.ts';

export const FORGES = ['github', 'gitlab', 'gitea'] as const;
export type ForgeKind = (typeof FORGES)[number];

/** What a source says of its forge. */
export interface ForgeSettings {
  url?: string;
  forge?: ForgeKind;
  /** Base URL of the interface. */
  forgeUrl?: string;
  /** `owner/name`. */
  forgeRepository?: string;
}

export interface ForgePlace {
  forge: ForgeKind;
  /** Without a slash at its end. */
  api: string;
  repository: string;
}

/** A member that cannot be used, as the API has it. */
export interface ForgeSettingProblem {
  member: 'forge' | 'forge_secret' | 'forge_app' | 'forge_url' | 'forge_repository';
  message: string;
}

/**
 * What is wrong with the members of a wanted source that say where its pull requests are answered. They may be
 * anything; what is of a wrong type is passed over. `allowLocal`: the forge may be of this machine.
 */
export function forgeSettingProblems(
  wanted: Readonly<Record<string, unknown>>,
  allowLocal: boolean,
): ForgeSettingProblem[] {
  const text = (member: string): string | undefined => {
    const value = wanted[member];
    return typeof value === 'string' ? value : undefined;
  };
  const forge = FORGES.find((kind) => kind === wanted['forge']);
  if (forge === undefined) return wanted['forge'] === undefined ? membersWithoutForge(wanted) : [];
  const forgeUrl = text('forge_url');
  const problem = (member: ForgeSettingProblem['member'], message: string): ForgeSettingProblem => ({
    member,
    message,
  });
  if (wanted['forge_secret'] === undefined)
    return [problem('forge_secret', 'is required with forge: the secret with the token for its interface')];
  const app = text('forge_app');
  if (app !== undefined && (forge !== 'github' || !isAppId(app)))
    return [problem('forge_app', forge === 'github' ? 'must be the ID of an app' : 'goes with github: an app of it')];
  if (forgeUrl !== undefined && apiUrl(forgeUrl) === undefined)
    return [problem('forge_url', 'must be an https URL without user, query or fragment')];
  if (forgeUrl !== undefined && !allowLocal && !forgeUrl.toLowerCase().startsWith('https:'))
    return [problem('forge_url', 'http is for local forges, where the operator allows them')];
  const forgeRepository = text('forge_repository');
  if (forgeRepository !== undefined && !isRepository(forgeRepository, forge))
    return [problem('forge_repository', 'must be owner/name')];
  const place = forgePlaceOf({ url: text('url'), forge, forgeUrl, forgeRepository });
  if (place !== undefined || text('url') === undefined) return [];
  return [problem(forgeUrl === undefined ? 'forge_url' : 'forge_repository', 'cannot be derived from url: say it')];
}

function membersWithoutForge(wanted: Readonly<Record<string, unknown>>): ForgeSettingProblem[] {
  const members = ['forge_secret', 'forge_app', 'forge_url', 'forge_repository'] as const;
  return members
    .filter((member) => wanted[member] !== undefined)
    .map((member) => ({ member, message: 'goes with forge: github, gitlab or gitea' }));
}

/** Path of the interface at the host of a forge of one's own. */
const API_PATHS: Readonly<Record<ForgeKind, string>> = { github: '/api/v3', gitlab: '/api/v4', gitea: '/api/v1' };

const SEGMENT = /^[A-Za-z0-9_.-]{1,200}$/;

/** Undefined where address and settings name no host or no repository. */
export function forgePlaceOf({ url, forge, forgeUrl, forgeRepository }: ForgeSettings): ForgePlace | undefined {
  if (forge === undefined) return undefined;
  const address = url === undefined ? undefined : remoteOf(url);
  const repository = forgeRepository ?? address?.path;
  const api = forgeUrl === undefined ? address && apiOf(forge, address.host) : apiUrl(forgeUrl);
  if (api === undefined || repository === undefined || !isRepository(repository, forge)) return undefined;
  return { forge, api, repository };
}

/** Whether a text can name a repository at a forge; groups of GitLab may stand in each other. */
export function isRepository(text: string, forge: ForgeKind): boolean {
  const parts = text.split('/');
  const isPlain = parts.every((part) => SEGMENT.test(part) && part !== '.' && part !== '..');
  return isPlain && (forge === 'gitlab' ? parts.length >= 2 && parts.length <= 20 : parts.length === 2);
}

/** A base URL in its one spelling: https, or http to this machine alone; undefined for anything else. */
export function apiUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function apiOf(forge: ForgeKind, host: string): string {
  return forge === 'github' && host === 'github.com' ? 'https://api.github.com' : `https://${host}${API_PATHS[forge]}`;
}

interface Remote {
  host: string;
  /** Without slashes at its ends and without `.git`. */
  path: string;
}

/** Host and path of an address of git. The port of ssh is not that of the interface. */
function remoteOf(url: string): Remote | undefined {
  const scp = /^(?:[^@/\s]+@)?([A-Za-z0-9][A-Za-z0-9.-]*):(?!\/\/)(.+)$/.exec(url);
  if (scp !== null) return { host: (scp[1] ?? '').toLowerCase(), path: pathOf(scp[2] ?? '') };
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (parsed.hostname === '') return undefined;
  const host = parsed.protocol === 'https:' ? parsed.host : parsed.hostname;
  return { host: host.toLowerCase(), path: pathOf(parsed.pathname) };
}

function pathOf(path: string): string {
  return path.replaceAll(/^\/+|\/+$/g, '').replace(/\.git$/, '');
}
