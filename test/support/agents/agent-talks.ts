/** Runs of a test whose agent is spoken with: started, waited for, listened to. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, type ApiAnswer, type TestService } from '../services/service.ts';

export interface TalkEvent {
  seq: number;
  event_type: string;
  execution_id?: string;
  payload: {
    text?: string;
    state?: string;
    title?: string;
    answer?: string;
    by?: string;
    permission_id?: string;
    options?: { option_id: string }[];
  };
}

export interface PermissionView {
  permission_id: string;
  state: string;
  title: string;
  input?: string;
  options: { option_id: string; name: string; kind: string }[];
  answer: string | null;
  answered_by: string | null;
}

/** What a test does with the runs of a service; `api` may be one of another process. */
export interface Talks {
  start(prompt: string, more?: Record<string, unknown>): Promise<string>;
  run(runId: string): Promise<Record<string, unknown>>;
  /** Waits until it is in one of these states. */
  until(runId: string, ...states: string[]): Promise<Record<string, unknown>>;
  events(runId: string): Promise<TalkEvent[]>;
  /** What the agent has said, all of it. */
  said(runId: string): Promise<string>;
  /** Waits until the agent has said something. */
  heard(runId: string, text: string): Promise<void>;
  permissions(runId: string): Promise<PermissionView[]>;
  /** Waits until it asks; answers the open questions. */
  asked(runId: string, count?: number): Promise<PermissionView[]>;
  answer(runId: string, permissionId: string, optionId: string): Promise<ApiAnswer>;
  followup(runId: string, message: string, more?: Record<string, unknown>): Promise<string>;
  /** Turns of the conversation: what was asked, and what was answered. */
  turns(runId: string): Promise<{ id: string; asked: string[]; said: string }[]>;
  /** Puts a file into the working directory of the agent. */
  put(runId: string, name: string): Promise<void>;
}

/** Milliseconds that an agent may take: it is a program that starts, on a machine that has other things to do. */
const PATIENCE_MS = 110_000;

export function talks(api: TestService['api'], dataDir: string, harness = 'scripted'): Talks {
  const get = async (path: string): Promise<Record<string, unknown>> => (await api('GET', path)).body;
  const talk: Talks = {
    start: async (prompt, { config, ...more } = {}) => {
      const answer = await api('POST', '/agent/runs', {
        prompt,
        ...more,
        config: { harness: { type: harness }, ...(config as object) },
      });
      if (answer.status !== 200) throw new Error(`the run was refused: ${JSON.stringify(answer.body)}`);
      return String(answer.body['run_id']);
    },
    run: (runId) => get(`/agent/runs/${runId}`),
    until: (runId, ...states) =>
      eventually(
        `the run is ${states.join(' or ')}`,
        async () => {
          const item = await talk.run(runId);
          if (states.includes(String(item['state']))) return item;
          if (['FAILED', 'ERROR'].includes(String(item['state'])))
            throw new Error(JSON.stringify([item['status_message'], await talk.events(runId)], undefined, 1));
          return undefined;
        },
        PATIENCE_MS,
      ),
    events: async (runId) => (await get(`/agent/runs/${runId}/events?limit=1000`))['events'] as TalkEvent[],
    said: async (runId) =>
      (await talk.events(runId))
        .filter(({ event_type: kind }) => kind === 'message')
        .map(({ payload }) => payload.text)
        .join(''),
    heard: async (runId, text) => {
      await eventually(
        `the agent says ${text}`,
        async () => ((await talk.said(runId)).includes(text) ? true : undefined),
        PATIENCE_MS,
      );
    },
    permissions: async (runId) => (await get(`/agent/runs/${runId}/permissions`))['permissions'] as PermissionView[],
    asked: (runId, count = 1) =>
      eventually(
        `the run asks ${count}`,
        async () => {
          const open = (await talk.permissions(runId)).filter(({ state }) => state === 'open');
          return open.length === count ? open : undefined;
        },
        PATIENCE_MS,
      ),
    answer: (runId, permissionId, optionId) =>
      api('POST', `/agent/runs/${runId}/permissions/${permissionId}`, { option_id: optionId }),
    followup: async (runId, message, more = {}) => {
      const answer = await api('POST', `/agent/runs/${runId}/followups`, { message, ...more });
      if (answer.status !== 200) throw new Error(`the follow-up was refused: ${JSON.stringify(answer.body)}`);
      return String(answer.body['outcome']);
    },
    turns: async (runId) => {
      const steps = (await get(`/agent/runs/${runId}/conversation`))['steps'] as {
        id: string;
        messages: { role: string; content: { text: string }[] }[];
      }[];
      const textsOf = (step: (typeof steps)[number], wanted: string): string[] =>
        step.messages
          .filter(({ role }) => role === wanted)
          .map(({ content }) => content.map(({ text }) => text).join(''));
      return steps.map((step) => ({
        id: step.id,
        asked: textsOf(step, 'user'),
        said: textsOf(step, 'assistant').join(''),
      }));
    },
    put: (runId, name) => writeFile(join(dataDir, 'runs', runId, 'workspace', name), ''),
  };
  return talk;
}
