/** The MCP servers of a run as tools that its agent has: which of them are limited, where they come from. */
import type { JsonValue } from '#filters';
import type { DefinitionPlace } from './capabilities.ts';

export interface ToolCapability {
  /** Name of the MCP server. */
  server: string;
  /** What of its tools the run is given, in the server's own words; undefined: everything that it offers. */
  tools?: string;
  /** Stands for the program with its arguments, or the address: to be compared, never shown. */
  source: string;
  /** Of one that is reached over HTTP. */
  host?: string;
  /** Of one that is reached without TLS. */
  isPlain: boolean;
  /** A program that is fetched anew at each start, in a version that its maker chooses. */
  moving?: string;
  /** Where literals may hide, by pointer below `place`. */
  literals: readonly { pointer: string; key: string; text: string }[];
  place: DefinitionPlace;
}

/** What the schema has checked. */
interface ServerEntry {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
}

export function toolsOf(
  { path, pointer }: DefinitionPlace,
  servers: Record<string, JsonValue> | undefined,
): ToolCapability[] {
  return Object.entries(servers ?? {}).map(([server, written]) => {
    const entry = written as ServerEntry;
    const url = entry.url !== undefined && URL.canParse(entry.url) ? new URL(entry.url) : undefined;
    const tools = limitOf(entry, url);
    const moving = movingPackage(entry);
    return {
      server,
      source: JSON.stringify([entry.command, entry.args, entry.url]),
      ...(tools === undefined ? {} : { tools }),
      ...(url === undefined ? {} : { host: url.host }),
      isPlain: url?.protocol === 'http:' && !isLoopback(url.hostname),
      ...(moving === undefined ? {} : { moving }),
      literals: literalsOf(entry),
      place: { path, pointer: `${pointer}/${server}` },
    };
  });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}

/** How servers are told which tools to offer, or that they may only read: there is no common way. */
const LIMIT_NAME = /(?:^|[-_.])(?:tools?|toolsets?|features|readonly|read[-_]?only)$/i;

/** The first argument, variable, header or parameter that limits the server. */
function limitOf({ args = [], env = {}, headers = {} }: ServerEntry, url: URL | undefined): string | undefined {
  const named = [...Object.entries(env), ...Object.entries(headers), ...(url?.searchParams ?? [])];
  const found = named.find(([name, value]) => LIMIT_NAME.test(name) && isLimit(value));
  if (found !== undefined) return `${found[0]}=${found[1]}`;
  const at = args.findIndex((argument) => /^--?[a-z]/i.test(argument) && LIMIT_NAME.test(nameOf(argument)));
  if (at === -1) return undefined;
  const argument = args[at] ?? '';
  const value = argument.includes('=') ? argument.slice(argument.indexOf('=') + 1) : args[at + 1];
  if (/read[-_]?only$/i.test(nameOf(argument))) return value === 'false' ? undefined : argument;
  return value !== undefined && isLimit(value) ? `${nameOf(argument)}=${value}` : undefined;
}

function nameOf(argument: string): string {
  return argument.replace(/^-+/, '').replace(/=.*$/s, '');
}

function isLimit(value: string): boolean {
  return !/^\s*(?:|all|\*|false|0|no)\s*$/i.test(value);
}

/** Runners that fetch what they start, with the words before the package. */
const RUNNERS: Readonly<Record<string, RegExp>> = {
  npx: /^$/,
  bunx: /^$/,
  uvx: /^$/,
  pipx: /^run$/,
  pnpm: /^dlx$/,
  yarn: /^dlx$/,
  npm: /^(?:exec|x)$/,
  bun: /^x$/,
  uv: /^(?:tool run|x)$/,
  docker: /^run$/,
  podman: /^run$/,
};

/** The package that a runner fetches without a version; undefined: a version is named, or nothing is fetched. */
function movingPackage({ command, args = [] }: ServerEntry): string | undefined {
  const runner = command?.split('/').at(-1) ?? '';
  const before = Object.hasOwn(RUNNERS, runner) ? RUNNERS[runner] : undefined;
  if (before === undefined) return undefined;
  const isContainer = runner === 'docker' || runner === 'podman';
  const words = wordsOf(args, isContainer);
  const skipped = before.source === '^$' ? 0 : words.slice(0, 2).join(' ').match(before) === null ? 1 : 2;
  const from = ['--from', '-p', '--package'].map((flag) => args[args.indexOf(flag) + 1] ?? '')[0];
  const wanted = args.includes('--from') ? from : words[skipped];
  if (wanted === undefined) return undefined;
  return (isContainer ? isPinnedImage(wanted) : isPinnedPackage(wanted)) ? undefined : wanted;
}

/** Options of container runners that have a value behind them. */
const VALUED = /^(?:-[epvwuhl]|--(?:env|name|network|volume|mount|user|workdir|env-file|publish|label|entrypoint))$/;

function wordsOf(args: readonly string[], isContainer: boolean): string[] {
  const words: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at] ?? '';
    if (isContainer && VALUED.test(argument)) at += 1;
    else if (!argument.startsWith('-')) words.push(argument);
  }
  return words;
}

function isPinnedPackage(name: string): boolean {
  if (name.startsWith('git+')) return /@[0-9a-f]{7,40}(?:#|$)/.test(name);
  return /^(?:[./~]|\/)/.test(name) || /(?:.@|==)v?\d/.test(name);
}

/** Whether an image is named by a digest, or by a tag that is not the one that always moves. */
export function isPinnedImage(image: string): boolean {
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return true;
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag !== undefined && !/^(?:latest|edge|nightly|main|master|dev|stable|canary)$/.test(tag);
}

function literalsOf({ args = [], env = {}, headers = {} }: ServerEntry): ToolCapability['literals'] {
  return [
    ...args.map((text, index) => ({ pointer: `/args/${index}`, key: '', text })),
    ...Object.entries(env).map(([key, text]) => ({ pointer: `/env/${key}`, key, text })),
    ...Object.entries(headers).map(([key, text]) => ({ pointer: `/headers/${key}`, key, text })),
  ];
}
