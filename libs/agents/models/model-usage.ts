/**
 * What a model says that a call has used, read from its answer as it passes by: whole, or as a stream of events.
 * contract §10.3 (Model calls).
 */
import { JsonMembers } from './json-members.ts';
import type { ModelApi } from './model-apis.ts';

/** Tokens of one call. */
export interface ModelUsage {
  /** Those read from and written to a cache included. */
  inputTokens: number;
  /** Part of the input that was read from a cache. */
  cachedTokens: number;
  outputTokens: number;
}

/** Where each interface has its counts, in an answer or in an event of its stream. */
const PLACES: Readonly<Record<ModelApi, readonly string[]>> = {
  openai: ['usage', 'response.usage'],
  anthropic: ['usage', 'message.usage'],
  gemini: ['usageMetadata', '[].usageMetadata'],
};

/** Reads one answer. `isStream`: its events are lines that begin with `data:`. */
export class ModelUsageReader {
  private readonly api: ModelApi;
  private readonly isStream: boolean;
  private counts: Record<string, number> = {};
  private isTold = false;
  private json: JsonMembers;
  /** Bytes of the line so far that could be its beginning; undefined: it is data, or it is passed over. */
  private prefix: number[] | undefined = [];
  private isData = false;

  constructor(api: ModelApi, isStream: boolean) {
    this.api = api;
    this.isStream = isStream;
    this.json = this.reader();
  }

  push(bytes: Uint8Array): void {
    if (!this.isStream) return this.json.push(bytes);
    let from = 0;
    for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, from)) {
      this.pushLine(bytes.subarray(from, at));
      this.endLine();
      from = at + 1;
    }
    this.pushLine(bytes.subarray(from));
  }

  /** What is told so far; undefined: nothing. */
  usage(): ModelUsage | undefined {
    this.take();
    if (!this.isTold) return undefined;
    return (COUNTS[this.api] satisfies (counts: Counts) => ModelUsage)((...names) => first(this.counts, names));
  }

  private reader(): JsonMembers {
    const places = PLACES[this.api];
    return new JsonMembers((path) => places.includes(path.join('.')));
  }

  private pushLine(bytes: Uint8Array): void {
    let rest = bytes;
    while (this.prefix !== undefined && rest.length > 0) {
      this.prefix.push(rest[0] ?? 0);
      rest = rest.subarray(1);
      const text = String.fromCharCode(...this.prefix);
      this.isData = text === 'data:';
      if (this.isData || !'data:'.startsWith(text)) this.prefix = undefined;
    }
    if (this.isData) this.json.push(rest);
  }

  private endLine(): void {
    this.take();
    [this.prefix, this.isData, this.json] = [[], false, this.reader()];
  }

  /** Counts grow within an answer: what is told last, or in parts, is the greatest of each. */
  private take(): void {
    for (const { text } of this.json.found.splice(0)) {
      const said: unknown = text === undefined ? undefined : JSON.parse(text);
      if (typeof said !== 'object' || said === null) continue;
      for (const [name, value] of numbersIn(said)) {
        this.counts[name] = Math.max(this.counts[name] ?? 0, value);
        this.isTold = true;
      }
    }
  }
}

const LINE_END = 0x0a;

/** More than any call uses; a number beyond it is no count. */
const TOKENS_MAX = 1e9;

type Counts = (...names: string[]) => number;

const COUNTS: Readonly<Record<ModelApi, (count: Counts) => ModelUsage>> = {
  openai: (count) => ({
    inputTokens: count('prompt_tokens', 'input_tokens'),
    cachedTokens: count('prompt_tokens_details.cached_tokens', 'input_tokens_details.cached_tokens'),
    outputTokens: count('completion_tokens', 'output_tokens'),
  }),
  anthropic: (count) => ({
    inputTokens: count('input_tokens') + count('cache_creation_input_tokens') + count('cache_read_input_tokens'),
    cachedTokens: count('cache_read_input_tokens'),
    outputTokens: count('output_tokens'),
  }),
  gemini: (count) => ({
    inputTokens: count('promptTokenCount') + count('toolUsePromptTokenCount'),
    cachedTokens: count('cachedContentTokenCount'),
    outputTokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),
  }),
};

function first(counts: Readonly<Record<string, number>>, names: readonly string[]): number {
  return names.map((name) => counts[name]).find((value) => value !== undefined) ?? 0;
}

/** Numbers of an object and of the objects in it, by their path. */
function numbersIn(value: object, above = ''): [string, number][] {
  return Object.entries(value).flatMap(([name, part]: [string, unknown]): [string, number][] => {
    if (typeof part === 'number')
      return Number.isFinite(part) && part >= 0 && part <= TOKENS_MAX ? [[above + name, Math.floor(part)]] : [];
    return typeof part === 'object' && part !== null && above === '' ? numbersIn(part, `${name}.`) : [];
  });
}
