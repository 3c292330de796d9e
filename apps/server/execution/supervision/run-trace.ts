/**
 * The trace of one execution: what it was prepared for, the turns of its agent and their tools; below the delivery that
 * started it, in whatever process that came in. Holds no word of a prompt, a tool or an answer. contract §1.9 (Traces).
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { spanIdOf, type Traces, type TraceSpan } from '../../process/traces.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';
import type { AgentActivity } from '../agent/agent-session.ts';

/** What an agent may call its tools by; anything else is another one. */
const TOOL_KINDS: ReadonlySet<string> = new Set([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
]);
/** Tools that are shown of one turn; those of a flood beyond are not. */
const TOOLS_PER_TURN_MAX = 1_000;

type ToolCall = Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>;

export class RunTrace implements AgentActivity {
  private readonly span: TraceSpan;
  private readonly preparation: TraceSpan;
  private turn: TraceSpan | undefined;
  private readonly tools = new Map<string, TraceSpan>();
  private toolsOfTurn = 0;

  constructor(traces: Traces, { runId, epoch, entryId, factoryUid, automationUid }: ClaimedRun) {
    this.span = traces.begin(entryId ?? runId, {
      name: 'run',
      spanId: spanIdOf(`${runId} ${epoch}`),
      parentId: entryId === undefined ? undefined : spanIdOf(entryId),
      attributes: { run_id: runId, epoch, entry_id: entryId, factory_uid: factoryUid, automation_uid: automationUid },
    });
    this.preparation = this.span.begin('run.prepare');
  }

  get traceId(): string | undefined {
    return this.span.traceId;
  }

  /** Its work begins. */
  begun(): void {
    this.preparation.end();
  }

  turnBegan(): void {
    this.toolsOfTurn = 0;
    this.turn = this.span.begin('agent.turn');
  }

  turnEnded(isFailed: boolean): void {
    for (const tool of this.tools.values()) tool.end();
    this.tools.clear();
    this.turn?.end({ tools: this.toolsOfTurn }, isFailed);
    this.turn = undefined;
  }

  updated(update: SessionUpdate): void {
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') this.toolCalled(update);
  }

  /** The execution is over, whatever became of it. */
  over(attributes: { state?: string; error_code?: string }, isFailed: boolean): void {
    this.preparation.end();
    if (this.turn !== undefined) this.turnEnded(isFailed);
    this.span.end(attributes, isFailed);
  }

  private toolCalled({ toolCallId, kind, status }: ToolCall): void {
    if (this.turn === undefined || this.span.traceId === undefined || typeof toolCallId !== 'string') return;
    const tool = this.tools.get(toolCallId) ?? this.toolOf(this.turn, toolCallId);
    if (status !== 'completed' && status !== 'failed') return;
    tool?.end({ tool_kind: toolKind(kind), status }, status === 'failed');
    this.tools.delete(toolCallId);
  }

  private toolOf(turn: TraceSpan, toolCallId: string): TraceSpan | undefined {
    this.toolsOfTurn += 1;
    if (this.toolsOfTurn > TOOLS_PER_TURN_MAX) return undefined;
    const tool = turn.begin('agent.tool');
    this.tools.set(toolCallId, tool);
    return tool;
  }
}

/** Undefined: this update does not say. */
function toolKind(kind: string | null | undefined): string | undefined {
  if (typeof kind !== 'string') return undefined;
  return TOOL_KINDS.has(kind) ? kind : 'other';
}
