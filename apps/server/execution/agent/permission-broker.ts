/**
 * What an agent asks permission for in one execution: decided by the policy, or put to people and waited for. contract
 * §3.6 (States), §3.8 (Follow-up), §10.
 */
import type { RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import {
  outputSanitizer,
  PERMISSION_KINDS,
  permissionRuling,
  rejecting,
  type PermissionOption,
  type PermissionSituation,
} from '#agents';
import type { RunEvent } from '../../store/runs/run-log.ts';
import {
  toWire,
  type Permission,
  type PermissionStore,
  type Question,
  type PermissionAnswer,
} from '../../store/runs/permissions.ts';
import type { Claim } from '../../store/runs/runs.ts';
import type { ExecutionSlot } from '../engine/execution-slots.ts';

/** Requests of one execution; an agent that asks for more is answered that it was cancelled. */
const ASKED_MAX = 1_000;
/** Questions that people have before them at a time. */
const OPEN_MAX = 20;
const OPTIONS_MAX = 20;
/** Calls of tools whose titles are remembered, for requests that only name the call. */
const TITLES_MAX = 1_000;
/** Characters of a title or a path, and of what a tool would be given. */
const NAME_LENGTH_MAX = 300;
const INPUT_LENGTH_MAX = 4_096;
const PATHS_MAX = 20;
/** Characters of an ID that is remembered. Agents use UUIDs; what is longer names nothing. */
const ID_LENGTH_MAX = 1_000;

export interface PermissionBrokerDeps {
  store: PermissionStore;
  claim: Claim;
  situation: PermissionSituation;
  secretValues: readonly string[];
  nowMs(): number;
  newId(): string;
  onEvent(event: RunEvent): void;
  /** Writes what the agent has said so far. */
  flush(): Promise<void>;
  /** Repeats what the database did not take, while the run is ours; undefined: it is not. */
  retryWhileOwned<T>(write: () => Promise<T>): Promise<T | undefined>;
  /** Tells who watches that something is stored. */
  publish(): void;
  /** The run's place: given back while it waits, and had again before the agent hears the answer. */
  slot: Pick<ExecutionSlot, 'park' | 'resume'>;
  /** Answers could not be read; the next poll tries again. */
  onFault(error: unknown): void;
}

/** Answers the permission requests of one execution. */
export class PermissionBroker {
  private readonly deps: PermissionBrokerDeps;
  private readonly sanitizer: ReturnType<typeof outputSanitizer>;
  private readonly titles = new Map<string, string>();
  /** Questions that wait for people, by their IDs, each with who waits for its answer. */
  private readonly open = new Map<string, (permission: Permission | undefined) => void>();
  private count = 0;
  private polling: Promise<void> | undefined;

  constructor(deps: PermissionBrokerDeps) {
    this.deps = deps;
    this.sanitizer = outputSanitizer(deps.secretValues);
  }

  /** The ID of the agent's option; undefined: the request is answered as cancelled. Never rejects. */
  async decide(request: RequestPermissionRequest, signal: AbortSignal): Promise<string | undefined> {
    this.count += 1;
    if (this.count > ASKED_MAX + 1) return undefined; // nobody reads any more what it says
    const { question, ownId } = asked(request, this.titles.get(request.toolCall.toolCallId), this.sanitizer);
    if (this.count > ASKED_MAX) {
      const text = `cancelled, as all further requests: the agent has asked more than ${ASKED_MAX} times`;
      this.note(question, undefined, text);
      return undefined;
    }
    const { situation } = this.deps;
    const isFull = this.open.size >= OPEN_MAX;
    const ruling = permissionRuling(question.options, isFull ? { ...situation, idleMinutes: 0 } : situation);
    if (ruling.by === 'people') return ownId(await this.ask(question, signal));
    const full = `refused: ${OPEN_MAX} questions wait for an answer already`;
    this.note(question, ruling.option, this.open.size >= OPEN_MAX ? full : ruling.text);
    return ownId(ruling.option);
  }

  /** Remembers what calls of tools are called. */
  noteTitle(update: SessionUpdate): void {
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return;
    const { toolCallId, title } = update;
    if (typeof toolCallId !== 'string' || toolCallId.length > ID_LENGTH_MAX) return;
    if (typeof title === 'string' && (this.titles.size < TITLES_MAX || this.titles.has(toolCallId)))
      this.titles.set(toolCallId, this.sanitizer.text(title, NAME_LENGTH_MAX));
  }

  /** Reads whether somebody has answered. */
  poll(): void {
    if (this.polling !== undefined || this.open.size === 0) return;
    this.polling = this.deps.store
      .answered([...this.open.keys()])
      .then(
        (answered) => answered.forEach((permission) => this.open.get(permission.permissionId)?.(permission)),
        (error: unknown) => this.deps.onFault(error),
      )
      .finally(() => (this.polling = undefined));
  }

  private async ask(question: Question, signal: AbortSignal): Promise<PermissionOption | undefined> {
    const { store, claim, newId, flush, retryWhileOwned, publish, slot } = this.deps;
    const permissionId = newId();
    const answered = new Promise<Permission | undefined>((resolve) => this.open.set(permissionId, resolve));
    const leave = (): void => this.leave(permissionId);
    let timer: NodeJS.Timeout | undefined;
    try {
      await flush();
      if ((await retryWhileOwned(() => store.ask(claim, permissionId, question))) !== true) return undefined;
      publish();
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
      timer = this.closeWhenIdle(permissionId, question);
      slot.park();
      const { optionId } = (await answered) ?? {};
      await slot.resume(signal);
      return question.options.find((option) => option.optionId === optionId);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      this.open.delete(permissionId);
    }
  }

  private leave(permissionId: string): void {
    this.open.get(permissionId)?.(undefined); // the agent waits no longer than it has to
    void this.close(permissionId, { text: 'the agent does not wait for an answer any more' });
  }

  private closeWhenIdle(permissionId: string, { options }: Question): NodeJS.Timeout {
    const { idleMinutes } = this.deps.situation;
    const late: PermissionAnswer = {
      option: rejecting(options),
      text: `refused: nobody answered within ${idleMinutes} ${idleMinutes === 1 ? 'minute' : 'minutes'}`,
    };
    return setTimeout(() => void this.close(permissionId, late), idleMinutes * 60_000);
  }

  private async close(permissionId: string, answer: PermissionAnswer): Promise<void> {
    const { store, claim, retryWhileOwned, publish } = this.deps;
    const closed = await retryWhileOwned(() => store.close(claim, permissionId, answer));
    publish();
    this.open.get(permissionId)?.(closed);
  }

  private note(question: Question, option: PermissionOption | undefined, text: string): void {
    this.deps.onEvent({
      kind: 'permission',
      atMs: this.deps.nowMs(),
      body: JSON.stringify({ ...toWire(question), answer: option?.optionId, by: 'policy', text }),
    });
  }
}

interface Asked {
  question: Question;
  /** The agent's own ID of an option, which people need not be shown as it is. */
  ownId(option: PermissionOption | undefined): string | undefined;
}

/** The request as people are shown it. */
function asked(
  { toolCall, options }: RequestPermissionRequest,
  title: string | undefined,
  words: ReturnType<typeof outputSanitizer>,
): Asked {
  const { kind, rawInput, locations } = toolCall;
  const offered = options
    .slice(0, OPTIONS_MAX)
    .filter(({ kind: answer, optionId }) => PERMISSION_KINDS.includes(answer) && optionId.length <= ID_LENGTH_MAX);
  const shown = offered.map((option, position): PermissionOption => ({
    optionId:
      isShowable(option.optionId, words) &&
      offered.findIndex(({ optionId }) => optionId === option.optionId) === position
        ? option.optionId
        : `option-${position + 1}`,
    name: words.text(option.name, NAME_LENGTH_MAX),
    kind: option.kind,
  }));
  const named = typeof toolCall.title === 'string' ? words.text(toolCall.title, NAME_LENGTH_MAX) : title;
  return {
    question: {
      title: named === undefined || named === '' ? 'a tool' : named,
      toolKind: typeof kind === 'string' ? words.text(kind, NAME_LENGTH_MAX) : undefined,
      input: rawInput === undefined ? undefined : words.json(rawInput, INPUT_LENGTH_MAX),
      paths: locations?.slice(0, PATHS_MAX).map(({ path }) => words.text(path, NAME_LENGTH_MAX)),
      options: shown,
    },
    ownId: (option) => (option === undefined ? undefined : offered[shown.indexOf(option)]?.optionId),
  };
}

/** An ID that can be shown, stored and sent back as it is. */
function isShowable(optionId: string, words: ReturnType<typeof outputSanitizer>): boolean {
  return /^[\x21-\x7e]{1,100}$/.test(optionId) && words.text(optionId, NAME_LENGTH_MAX) === optionId;
}
