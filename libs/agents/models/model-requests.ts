/**
 * What a run asks a model for: the model that it names, read without trusting the text around it, and the question for
 * its use where a stream would not tell it. contract §10.3 (Model calls).
 */
import { JsonMembers, type JsonMember } from './json-members.ts';
import type { ModelOperation } from './model-apis.ts';
import { isProviderCallMember, providerCallProblem } from './provider-calls.ts';

/** A request as it may be sent on. */
export interface ModelRequest {
  /** Undefined: the path names it. */
  model?: string;
  /** Bytes of the body to replace, and with what. */
  edit?: { start: number; end: number; text: string };
  /** The stream tells its use because the service asked for it: that piece is not for the run. */
  hidesUsage: boolean;
}

export type ReadModelRequest = { ok: true; request: ModelRequest } | { ok: false; reason: string };

/** Members that decide, in lower case: some servers do not tell the cases apart. */
const DECIDING = new Set(['model', 'stream', 'stream_options', 'mcp_servers', 'background']);

/** Reads a body as it arrives. */
export class ModelRequestReader {
  private readonly members = new JsonMembers((path, isText) =>
    path.length === 1 ? DECIDING.has(path[0]?.toLowerCase() ?? '') : isProviderCallMember(path, isText),
  );
  private readonly operation: ModelOperation;

  constructor(operation: ModelOperation) {
    this.operation = operation;
  }

  push(bytes: Uint8Array): void {
    this.members.push(bytes);
  }

  /** The body is there. Every reading that a server could have of it names the same model. */
  end(): ReadModelRequest {
    const { rootStart } = this.members;
    const found = this.members.found.filter(({ path }) => path.length === 1);
    if (!this.members.isWhole() || rootStart === undefined) return refused('its body is no JSON object');
    const names = found.map(({ path }) => path[0] ?? '');
    const odd = names.find((name, index) => name !== name.toLowerCase() || names.indexOf(name) !== index);
    if (odd !== undefined) return refused(`the member ${JSON.stringify(odd)} stands twice in it, or in another case`);
    if (names.includes('mcp_servers')) return refused('its provider would call servers that this run did not name');
    // What it uses would be told to whoever asks later, and nobody can from here.
    if (names.includes('background') && ![false, null].includes(valueOf(found, 'background') as boolean | null))
      return refused('it would work on behind its answer, where its use is not counted');
    const elsewhere = providerCallProblem(this.members.found.filter(({ path }) => path.length > 1));
    if (elsewhere !== undefined) return refused(elsewhere);
    const model = valueOf(found, 'model');
    if (model !== undefined && typeof model !== 'string') return refused('its model is no text');
    if (model === undefined && this.operation.model === undefined) return refused('it names no model');
    const isStreamed = this.operation.asksForUsage && valueOf(found, 'stream') === true;
    return {
      ok: true,
      request: { ...(model === undefined ? {} : { model }), ...usageAsked(isStreamed, found, rootStart) },
    };
  }
}

function usageAsked(
  isStreamed: boolean,
  found: readonly JsonMember[],
  rootStart: number,
): Pick<ModelRequest, 'edit' | 'hidesUsage'> {
  if (!isStreamed) return { hidesUsage: false };
  const options = found.find(({ path }) => path[0] === 'stream_options');
  const said = valueOf(found, 'stream_options');
  const isObject = typeof said === 'object' && said !== null && !Array.isArray(said);
  if (isObject && (said as { include_usage?: unknown }).include_usage === true) return { hidesUsage: false };
  const asked = JSON.stringify({ ...(isObject ? said : {}), include_usage: true });
  const edit =
    options === undefined
      ? { start: rootStart, end: rootStart, text: `"stream_options":${asked},` }
      : { start: options.start, end: options.end, text: asked };
  return { edit, hidesUsage: true };
}

/** Undefined: absent, or longer than anything that it could be. */
function valueOf(found: readonly JsonMember[], name: string): unknown {
  const text = found.find(({ path }) => path[0] === name)?.text;
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function refused(reason: string): ReadModelRequest {
  return { ok: false, reason };
}

/** Whether a model is one of those that patterns name; `*` stands for any letters. */
export function isModelAllowed(patterns: readonly string[], model: string): boolean {
  const name = model.replace(/^models\//, '');
  return patterns.some((pattern) => matchesPattern(pattern, name));
}

function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return name === pattern;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
