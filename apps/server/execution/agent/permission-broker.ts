/** What an agent asks permission for in one execution: decided by the policy, or put to people and waited for. contract 3 (States, Follow-up), 10. */
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
  insist<T>(write: () => Promise<T>): Promise<T | undefined>;
  /** Tells who watches that something is stored. */
  tell(): void;
  /** An answer could not be looked for; the next look tries again. */
  onFault(error: unknown): void;
}

export interface PermissionBroker {
  /** The ID of the agent's option; undefined: the request is answered as cancelled. Never rejects. */
  decide(request: RequestPermissionRequest, signal: AbortSignal): Promise<string | undefined>;
  /** Hears what calls of tools are called. */
  heard(update: SessionUpdate): void;
  /** Looks whether somebody has answered. */
  look(): void;
}

interface Asked {
  question: Question;
  /** The agent's own ID of an option, which people need not be shown as it is. */
  ownId(option: PermissionOption | undefined): string | undefined;
}

/** The desk of one execution. */
export function permissionBroker(parts: PermissionBrokerDeps): PermissionBroker {
  const { store, claim, situation, insist, tell } = parts;
  const words = outputSanitizer(parts.secretValues);
  const titles = new Map<string, string>();
  const open = new Map<string, (permission: Permission | undefined) => void>();
  let [count, looking] = [0, false];

  const note = (question: Question, option: PermissionOption | undefined, text: string): void =>
    parts.onEvent({
      kind: 'permission',
      atMs: parts.nowMs(),
      body: JSON.stringify({ ...toWire(question), answer: option?.optionId, by: 'policy', text }),
    });

  const close = async (permissionId: string, settlement: PermissionAnswer): Promise<void> => {
    const settled = await insist(() => store.close(claim, permissionId, settlement));
    tell();
    open.get(permissionId)?.(settled);
  };

  const ask = async (question: Question, signal: AbortSignal): Promise<PermissionOption | undefined> => {
    const permissionId = parts.newId();
    const settled = new Promise<Permission | undefined>((resolve) => open.set(permissionId, resolve));
    const leave = (): void => {
      open.get(permissionId)?.(undefined); // the agent waits no longer than it has to
      void close(permissionId, { text: 'the agent does not wait for an answer any more' });
    };
    let timer: NodeJS.Timeout | undefined;
    try {
      await parts.flush();
      if ((await insist(() => store.ask(claim, permissionId, question))) !== true) return undefined;
      tell();
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
      const { idleMinutes } = situation;
      const late: PermissionAnswer = {
        option: rejecting(question.options),
        text: `refused: nobody answered within ${idleMinutes} ${idleMinutes === 1 ? 'minute' : 'minutes'}`,
      };
      timer = setTimeout(() => void close(permissionId, late), idleMinutes * 60_000);
      const { optionId } = (await settled) ?? {};
      return question.options.find((option) => option.optionId === optionId);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      open.delete(permissionId);
    }
  };

  return {
    async decide(request, signal) {
      count += 1;
      if (count > ASKED_MAX + 1) return undefined; // nobody looks at what it says any more
      const { question, ownId } = asked(request, titles.get(request.toolCall.toolCallId), words);
      if (count > ASKED_MAX) {
        note(
          question,
          undefined,
          `cancelled, as all further requests: the agent has asked more than ${ASKED_MAX} times`,
        );
        return undefined;
      }
      const ruling =
        open.size >= OPEN_MAX
          ? permissionRuling(question.options, { ...situation, idleMinutes: 0 })
          : permissionRuling(question.options, situation);
      if (ruling.by === 'people') return ownId(await ask(question, signal));
      note(
        question,
        ruling.option,
        open.size >= OPEN_MAX ? `refused: ${OPEN_MAX} questions wait for an answer already` : ruling.text,
      );
      return ownId(ruling.option);
    },
    heard: (update) => {
      if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return;
      if (typeof update.toolCallId !== 'string' || update.toolCallId.length > ID_LENGTH_MAX) return;
      if (typeof update.title === 'string' && (titles.size < TITLES_MAX || titles.has(update.toolCallId)))
        titles.set(update.toolCallId, words.text(update.title, NAME_LENGTH_MAX));
    },
    look: () => {
      if (looking || open.size === 0) return;
      looking = true;
      store
        .answered([...open.keys()])
        .then(
          (settled) => settled.forEach((permission) => open.get(permission.permissionId)?.(permission)),
          (error: unknown) => parts.onFault(error),
        )
        .finally(() => (looking = false));
    },
  };
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
