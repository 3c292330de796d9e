/** What a tool of the agent is: how the model calls it, how people see the call, and what it answers. */
import type { PlanEntry, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { Schema } from 'ai';
import type { z } from 'zod';
import type { Artifact } from './report-artifact.ts';
import type { AllowedPaths } from './workspace-paths.ts';

/** What a tool may use of the session that calls it. */
export interface ToolContext {
  allowedPaths: AllowedPaths;
  /** Environment of child processes; holds no credential of the model. */
  environment: Readonly<Record<string, string>>;
  /** Aborted when the turn is cancelled. */
  signal: AbortSignal;
  /** Publishes the plan to the clients of the session. */
  showPlan(entries: readonly PlanEntry[]): Promise<void>;
}

/** Display form of a call before it runs. Paths in `locations` are absolute. */
export interface CallDescription {
  title: string;
  locations?: ToolCallLocation[];
}

/** Result of a call. `text` goes to the model unchanged, so every tool bounds it. */
export interface Outcome {
  text: string;
  /** The call failed; the model receives that. */
  isError?: boolean;
  /**
   * The call is shown as failed although its answer is an ordinary one, for example a command with another exit code
   * than 0.
   */
  isShownFailed?: boolean;
  /** Shown instead of the text. */
  content?: ToolCallContent[];
  /** Small facts for programs that follow the session. */
  rawOutput?: Readonly<Record<string, unknown>>;
  artifact?: Artifact;
}

export interface AgentTool {
  name: string;
  description: string;
  /** No check of its own where the input is validated elsewhere. */
  input: z.ZodType | Schema;
  kind: ToolKind;
  /** The client is asked for permission before each call, unless the session's mode is `auto`. */
  asks: boolean;
  /** `input` satisfies the schema. */
  describe(input: unknown, allowedPaths: AllowedPaths): CallDescription;
  /**
   * `input` satisfies the schema. What a person or the model can do something about is an outcome with `isError`, not
   * an exception.
   */
  run(input: unknown, context: ToolContext): Promise<Outcome>;
}

interface ToolOf<Schema extends z.ZodType> extends Omit<AgentTool, 'describe' | 'run'> {
  input: Schema;
  describe(input: z.output<Schema>, allowedPaths: AllowedPaths): CallDescription;
  run(input: z.output<Schema>, context: ToolContext): Promise<Outcome>;
}

/** A tool whose functions know the type of its input; the model's input has been checked against the schema before. */
export function tool<Schema extends z.ZodType>(definition: ToolOf<Schema>): AgentTool {
  return definition;
}

/** A failed result with its cause for the model. */
export function failed(text: string): Outcome {
  return { text, isError: true };
}
