/** One turn: a prompt goes in, the model and its tools run, updates go out, the conversation is stored. */
import { type AgentContext, type ContentBlock, type PromptResponse, RequestError } from '@agentclientprotocol/sdk';
import { type FinishReason, stepCountIs, streamText, type TextStreamPart, type ToolSet } from 'ai';
import type { AgentConfig } from '../config/config.ts';
import { fitted } from '../model/context-window.ts';
import { say } from '../diagnostics.ts';
import { instructionsFor } from '../session/instructions.ts';
import { modelFailure } from '../model/model-errors.ts';
import { modelOf, providerOptions, systemMessage, withCacheMark } from '../model/model.ts';
import type { Fetch } from '../model/fetch.ts';
import { userMessage } from '../session/prompt-content.ts';
import { reportingRetries } from '../model/retries.ts';
import type { Session } from '../session/session.ts';
import { turnRelay } from './stream-relay.ts';
import { costOf, type Usage } from './usage.ts';

export interface TurnOptions {
  session: Session;
  blocks: readonly ContentBlock[];
  client: AgentContext;
  config: AgentConfig;
  fetch: Fetch;
  /** Aborted by a cancel, or when the client is gone. */
  signal: AbortSignal;
  /** Day, as YYYY-MM-DD. */
  today: string;
}

/**
 * The answer to `session/prompt`. `usage` is what this turn took, where ACP's next version has it; `_meta.millwright`
 * names model and cost.
 */
export interface TurnResponse extends PromptResponse {
  usage: Usage;
}

/**
 * Runs one turn. Rejects with an actionable error when the model fails; the output so far stays in the conversation.
 */
export async function runTurn(options: TurnOptions): Promise<TurnResponse> {
  const { session, config, signal } = options;
  await session.remember([userMessage(options.blocks)]);
  const { finishReason, usage, error } = await worked(options);
  if (error !== undefined && !signal.aborted) throw error instanceof RequestError ? error : modelFailure(error, config);
  const cost = costOf(usage, config.prices);
  const millwright = { modelId: session.settings.modelId, ...(cost === undefined ? {} : { cost }) };
  return { stopReason: signal.aborted ? 'cancelled' : stopReasonOf(finishReason), usage, _meta: { millwright } };
}

/** The loop of model and tools, followed to its end. Never rejects for what the model does. */
async function worked(options: TurnOptions): Promise<{ finishReason: FinishReason; usage: Usage; error: unknown }> {
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  let error: unknown;
  // Whatever still comes of an answer that went wrong is not to be trusted, and nothing more of it may run.
  const fail = (reason: unknown): void => {
    error ??= reason;
    broken.abort();
  };
  const relay = turnRelay({ ...options, signal, fail });
  try {
    for await (const part of await loop(options, relay.tools, signal)) await relay.take(part);
  } catch (reason) {
    fail(reason);
  }
  await relay.close(options.signal.aborted ? 'cancelled' : 'not carried out: the turn ended before');
  return { finishReason: relay.finishReason(), usage: relay.usage(), error };
}

async function loop(
  options: TurnOptions,
  tools: ToolSet,
  signal: AbortSignal,
): Promise<AsyncIterable<TextStreamPart<ToolSet>>> {
  const { session, config, today } = options;
  const { modelId, instructions } = session.settings;
  const text = await instructionsFor({
    allowedPaths: session.allowedPaths,
    home: config.home,
    instructions,
    remarks: session.remarks,
    modelId,
    today,
  });
  return streamText({
    model: await modelOf(config, modelId, reportingRetries(options.fetch, config.retriesMax, say)),
    system: systemMessage(text),
    messages: [...session.messages],
    tools,
    stopWhen: stepCountIs(config.stepsMax),
    maxRetries: config.retriesMax,
    maxOutputTokens: config.outputTokensMax,
    providerOptions: providerOptions(config),
    abortSignal: signal,
    prepareStep: ({ messages }) => ({ messages: withCacheMark(fitted(messages, config.contextTokens)) }),
    experimental_include: { requestBody: false },
    // Errors come as parts of the stream too; by default they would be printed with all they carry.
    onError: () => undefined,
  }).fullStream;
}

function stopReasonOf(finishReason: FinishReason): PromptResponse['stopReason'] {
  switch (finishReason) {
    case 'length':
      return 'max_tokens';
    case 'content-filter':
      return 'refusal';
    // The loop continues after tool calls until the step limit.
    case 'tool-calls':
      return 'max_turn_requests';
    case 'stop':
    case 'error':
    case 'other':
      return 'end_turn';
  }
}
