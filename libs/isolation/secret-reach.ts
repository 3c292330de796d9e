/** Where each secret of a run may go, in words for its log: names and hosts, never a value. contract §10.2. */
import type { RunSecret } from '#definitions';
import { METHODS_DEFAULT } from './host-injections.ts';

/** What a run has of secrets. */
export interface SecretUses {
  /** Those that are added outside of the sandbox. */
  outside: readonly RunSecret[];
  /** Names of those that are inside as variables. */
  inside: readonly string[];
  /** Hosts that get a key of its models. */
  models: readonly string[];
  /** Hosts that get a credential of its repositories. */
  remotes: readonly string[];
  /** MCP servers that get secret headers, with their hosts. */
  servers: readonly { name: string; host: string }[];
}

/** Things of one kind that one line names; the others are counted. */
const NAMED_MAX = 20;

/** A line for the beginning of a run's log; none where it has no secret. */
export function describeSecrets({ outside, inside, models, remotes, servers }: SecretUses): string[] {
  const parts = [
    ...counted(outside.map(declared)),
    ...(models.length === 0 ? [] : [`the key of its model goes to ${listed(models)}`]),
    ...(remotes.length === 0 ? [] : [`credentials of its repositories go to ${listed(remotes)}`]),
    ...counted(servers.map(({ name, host }) => `headers of the MCP server ${JSON.stringify(name)} go to ${host}`)),
    ...(inside.length === 0 ? [] : [`inside, as variables: ${listed(inside)}`]),
  ];
  return parts.length === 0 ? [] : [`secrets: ${parts.join('; ')}`];
}

function declared({ name, host = '', methods = METHODS_DEFAULT, paths }: RunSecret): string {
  const where = paths === undefined ? '' : ` of ${listed(paths)}`;
  return `${name} goes to ${host} (${methods.join(', ')}${where})`;
}

function listed(words: readonly string[]): string {
  return counted([...new Set(words)]).join(', ');
}

function counted(words: readonly string[]): string[] {
  const more = words.length - NAMED_MAX;
  return more <= 0 ? [...words] : [...words.slice(0, NAMED_MAX), `${more} more`];
}
