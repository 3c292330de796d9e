/**
 * A coding agent for tests: what it does stands in the prompts, in fenced blocks with the word `script`. Speaks the
 * protocol with the real library, and past it where a step says so.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type AgentContext,
  type PermissionOption,
  type RequestPermissionResponse,
  type StopReason,
} from '@agentclientprotocol/sdk';

/** One thing to do. */
export type ScriptStep =
  | { say: string }
  /** Says everything that it was told in this prompt. */
  | { echo: true }
  | { sleep_ms: number }
  /** Waits until this file is in its working directory. */
  | { await_file: string }
  /** Asks permission as often as there are titles, all at once, and says what came of each. */
  | { ask: string[]; options?: PermissionOption[]; session?: string }
  /** Requests of the protocol that this client does not serve; says the codes of the refusals. */
  | { request: string[] }
  /** Writes a line past the protocol; `<session>` is the session's ID. */
  | { write: string }
  /** An update after the end of this turn. */
  | { late: string }
  | { exit: number }
  | { stop: StopReason };

const OPTIONS: PermissionOption[] = [
  { optionId: 'yes-once', name: 'Do it', kind: 'allow_once' },
  { optionId: 'yes-always', name: 'Always do it', kind: 'allow_always' },
  { optionId: 'no-once', name: 'Leave it', kind: 'reject_once' },
];

/** What it can do with sessions of earlier processes: resume, load, or nothing. */
const [, , ability = 'resume'] = process.argv;
const SESSIONS_FOLDER = join(process.env['HOME'] ?? '.', 'scripted-sessions');
const cancelled = new Map<string, AbortController>();

const stepsOf = (text: string): ScriptStep[] => {
  const blocks = [...text.matchAll(/^```script\n([\s\S]*?)^```$/gm)].flatMap(
    ([, block = '[]']) => JSON.parse(block) as ScriptStep[],
  );
  return blocks.length === 0 ? [{ echo: true }] : blocks;
};

const reopened = (sessionId: string): object => {
  if (!/^[\w-]+$/.test(sessionId) || !existsSync(join(SESSIONS_FOLDER, sessionId)))
    throw RequestError.sessionNotFound(sessionId);
  return {};
};

async function turn(client: AgentContext, sessionId: string, text: string): Promise<StopReason> {
  const abort = new AbortController();
  cancelled.set(sessionId, abort);
  const file = join(SESSIONS_FOLDER, sessionId);
  const heard = existsSync(file) ? readFileSync(file, 'utf8') : '';
  writeFileSync(file, `${heard}${text}\n----\n`);
  const say = (said: string, session = sessionId): Promise<void> =>
    client.notify(methods.client.session.update, {
      sessionId: session,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said } },
    });
  for (const step of stepsOf(text)) {
    if (abort.signal.aborted) return 'cancelled';
    if ('say' in step) await say(step.say);
    if ('echo' in step) await say(`heard: ${text}`);
    if ('sleep_ms' in step) await new Promise((resolve) => setTimeout(resolve, step.sleep_ms));
    if ('await_file' in step)
      while (!existsSync(step.await_file) && !abort.signal.aborted)
        await new Promise((resolve) => setTimeout(resolve, 20));
    if ('ask' in step)
      await say(
        (
          await Promise.all(
            step.ask.map((title) => asked(client, step.session ?? sessionId, title, step.options ?? OPTIONS)),
          )
        ).join(' '),
      );
    if ('request' in step)
      for (const method of step.request)
        await client.request(method, { sessionId, path: '/etc/passwd', command: 'id' }).then(
          () => say(`${method} was served;`),
          (error: unknown) => say(`${method} ${error instanceof RequestError ? error.code : 'failed'};`),
        );
    if ('write' in step) process.stdout.write(`${step.write.replaceAll('<session>', sessionId)}\n`);
    if ('late' in step) setTimeout(() => void say(step.late), 50);
    if ('exit' in step) process.exit(step.exit);
    if ('stop' in step) return step.stop;
  }
  return abort.signal.aborted ? 'cancelled' : 'end_turn';
}

async function asked(
  client: AgentContext,
  sessionId: string,
  title: string,
  options: PermissionOption[],
): Promise<string> {
  const toolCall = {
    toolCallId: randomUUID(),
    title,
    kind: 'execute' as const,
    rawInput: { command: title },
    locations: [{ path: 'a.txt' }],
  };
  const { outcome }: RequestPermissionResponse = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall,
    options,
  });
  return `${title}: ${outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome};`;
}

mkdirSync(SESSIONS_FOLDER, { recursive: true });
agent({ name: 'scripted' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: {
      loadSession: ability === 'load',
      sessionCapabilities: ability === 'resume' ? { resume: {} } : {},
    },
  }))
  .onRequest(methods.agent.session.new, () => {
    const sessionId = randomUUID();
    writeFileSync(join(SESSIONS_FOLDER, sessionId), '');
    return { sessionId };
  })
  .onRequest(methods.agent.session.resume, ({ params }) => reopened(params.sessionId))
  .onRequest(methods.agent.session.load, ({ params }) => reopened(params.sessionId))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return { stopReason: await turn(client, params.sessionId, text) };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.abort())
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
