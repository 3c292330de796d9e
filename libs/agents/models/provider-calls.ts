/**
 * What of a request would have the provider itself go to an address that the run has written: the network of a run is
 * none for its provider. contract §10.3 (Model calls).
 */
import type { JsonMember } from './json-members.ts';

/** Members of a tool, in lower case, that name a server for the provider to call, or let it fetch what texts name. */
const TOOL_MEMBERS: ReadonlySet<string> = new Set([
  'server_url',
  'connector_id',
  'url_context',
  'urlcontext',
  'mcp_servers',
  'mcpservers',
  'retrieval',
]);
/** Members of a tool, in lower case, that say in which machine of the provider it works. */
const MACHINES: ReadonlySet<string> = new Set(['container', 'environment']);
/** Kinds of tools that do so. */
const TOOL_TYPES = /^(?:mcp|web_fetch)/i;
/** Places of the conversation, in lower case; what stands in arguments and results of tools is the run's own. */
const PLACES: ReadonlySet<string> = new Set(['messages', 'input', 'contents', 'system', 'systeminstruction', 'prompt']);
const OWN: ReadonlySet<string> = new Set(['input', 'args', 'response', 'arguments', 'tools']);

/** Whether a member has to be looked at. `isText`: its value begins as one. */
export function isProviderCallMember(path: readonly string[], isText: boolean): boolean {
  const names = path.map((name) => name.toLowerCase());
  return isToolMember(names) || isNetworkPolicy(names) || (isText && isMediaAddress(names));
}

/** `tools[].container.network_policy`: which hosts the tool's machine reaches; none where it is not said. */
function isNetworkPolicy(names: readonly string[]): boolean {
  return names.at(-1) === 'network_policy' && MACHINES.has(names.at(-2) ?? '') && isOfTools(names.slice(0, -2));
}

/** `tools[].x`, also where tools are grouped, or told in the conversation. */
function isToolMember(names: readonly string[]): boolean {
  const last = names.at(-1) ?? '';
  return (TOOL_MEMBERS.has(last) || last === 'type') && isOfTools(names.slice(0, -1));
}

/** Whether this is one of `tools`, in a group or not. */
function isOfTools(names: readonly string[]): boolean {
  if (names.at(-1) !== '[]' || names.at(-2) !== 'tools') return false;
  return names.every((name, index) => name === '[]' || name === 'tools' || (index === 0 && name === 'input'));
}

function isMediaAddress(names: readonly string[]): boolean {
  const [first = '', ...rest] = names;
  if (!PLACES.has(first) || rest.some((name) => OWN.has(name))) return false;
  const [above = '', last = ''] = names.slice(-2);
  if (last === 'image_url' || last === 'file_url') return true;
  if (last === 'url') return above === 'image_url' || above === 'source' || above === 'file';
  return (last === 'fileuri' || last === 'file_uri') && (above === 'filedata' || above === 'file_data');
}

/** Why a request is refused for one of these; undefined: its provider stays where it is. */
export function providerCallProblem(found: readonly JsonMember[]): string | undefined {
  for (const member of found) {
    const names = member.path.map((name) => name.toLowerCase());
    if (isToolMember(names) && (names.at(-1) !== 'type' || isOfType(member)))
      return 'its provider would call servers that this run did not name';
    if (isNetworkPolicy(names) && !isDisabled(member))
      return 'a machine of its provider would reach hosts that this run names';
    if (isMediaAddress(names) && isElsewhere(member))
      return 'its provider would fetch what this run names by an address; send the file itself';
  }
  return undefined;
}

function isOfType({ text }: JsonMember): boolean {
  const type = text === undefined ? undefined : parsed(text);
  return typeof type !== 'string' || TOOL_TYPES.test(type.trim());
}

function isDisabled({ text }: JsonMember): boolean {
  const policy = text === undefined ? undefined : parsed(text);
  if (typeof policy !== 'object' || policy === null) return policy === null;
  return 'type' in policy && policy.type === 'disabled';
}

/** A file that is there (`data:…`), or the name of one, is none. */
function isElsewhere({ text, head }: JsonMember): boolean {
  if (text === undefined) return !/^"data:/i.test(head);
  const address = parsed(text);
  return (
    typeof address !== 'string' || (!/^data:/i.test(address) && /^(?:\s*[a-z][a-z0-9+.-]*:|\s*\/\/)/i.test(address))
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
