/** `millwright wait`: until a revision serves on every replica, or will not without people. contract §9, §11. */
import { appendFile } from 'node:fs/promises';
import type { Factory, RevisionStatus } from '#client';
import { SERVER_OPTIONS, type Api } from '../connection/api.ts';
import { connectLasting } from '../connection/lasting-connection.ts';
import { CommandError, UsageError, verb, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { outputFor, type Output } from '../terminal/output.ts';
import { pollUntil, readTimeout, WAIT_SECONDS } from '../connection/polling.ts';
import { noteUnattended } from '../reports/factory-status.ts';
import { printEnd, type End, type WaitFormat } from '../reports/wait-report.ts';

/** A whole revision, or a commit ID of 7 digits or more. */
const REVISION = /^(?:[0-9a-f]{7,64}|sha256:[0-9a-f]{64}|[^\s@:][^\s]*@sha(?:1:[0-9a-f]{40}|256:[0-9a-f]{64}))$/;
/** An end waits so long for the forge to say which pull request brought the revision. */
const FORGE_MS = 5_000;
const FORMATS: readonly string[] = ['text', 'json', 'yaml', 'github'] satisfies WaitFormat[];

/** The verb `wait`. */
export const wait = verb({
  name: 'wait',
  arguments: '[FACTORY]',
  summary: 'Waits until a revision, or a later one that holds it, serves on every replica.',
  details: [
    'Asks for a sync first, where the key may. A repository that cannot be read and a closed sync window are ' +
      'waited for.',
    'Ends with 0 when it serves, 1 when problems or people keep it from it, 4 when it waits for an approval, 3 ' +
      'when the time is over.',
    "Where a newer revision came before it was applied, and that one is blocked, the end is that one's.",
  ],
  positionals: [0, 1],
  options: {
    revision: {
      type: 'string',
      required: true,
      value: 'SHA',
      help: 'commit ID (7 digits or more), HEAD of the repository here, or a whole revision (`millwright status`)',
    },
    timeout: { type: 'string', value: 'SECONDS', help: `how long to wait (default ${WAIT_SECONDS})` },
    ...SERVER_OPTIONS,
    format: {
      type: 'string',
      short: 'o',
      value: FORMATS.join('|'),
      help: 'text for people (default), the JSON of the API, the same as YAML, or workflow commands',
    },
  },
  async run({ values, positionals: [name] }, io) {
    const format = readFormat(values.format);
    const output = await outputFor(io, format === 'github' ? 'text' : format);
    const revision = await revisionOf(values.revision, io);
    const timeoutMs = readTimeout(values.timeout);
    const connected = await connectLasting({ server: values.server, keyFile: values['key-file'] }, io);
    const api = await connected();
    const factory = await findFactory(api, name);
    if (!factory.definitions_managed)
      throw new UsageError(
        `${factory.slug} is managed over the API: it follows no files, so no revision ever serves there`,
      );
    const asked = await ask(api, factory, output);
    const end = await interruptibly(
      (signal) => waitForEnd({ connected, output, factory, revision, asked, timeoutMs }, signal),
      output,
      revision,
    );
    if (end === undefined) return EXIT.internal;
    return report(await withPullRequests(end, { connected, factory }), { format, output, factory, io });
  },
});

function readFormat(text = 'text'): WaitFormat {
  if (FORMATS.includes(text)) return text as WaitFormat;
  throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
}

/** HEAD is what is checked out here: nobody has to copy its ID. */
async function revisionOf(text: string, io: CliIo): Promise<string> {
  if (!/^(?:HEAD|@)(?:[~^][0-9]*)*$/.test(text)) return readRevision(text);
  const { commitAt } = await import('../repository/changed-since.ts');
  return commitAt(io.cwd, text);
}

function readRevision(text: string): string {
  const revision = /^[0-9A-Fa-f]{7,64}$/.test(text) ? text.toLowerCase() : text;
  if (REVISION.test(revision)) return revision;
  throw new UsageError(
    '--revision must be a commit ID of 7 digits or more, HEAD, or a whole revision: branch@sha1:… or sha256:…',
  );
}

/** Requests a sync instead of waiting for the timer; returns its generation. A viewer's key is enough. */
async function ask(api: Api, factory: Factory, output: Output): Promise<number | undefined> {
  try {
    const state = await api.factories.sync(factory.uid);
    noteUnattended(output, state);
    return state.generation_requested;
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
    output.note(`no sync was asked for: ${cause.message}`);
    return undefined;
  }
}

interface Waiting {
  /** The API at each call: its key may be another one by then. */
  connected(): Promise<Api>;
  output: Output;
  factory: Factory;
  revision: string;
  /** Generation of the sync that was asked for. */
  asked: number | undefined;
  timeoutMs: number;
}

/** Polls until the revision serves or needs people. Throws CommandError at the timeout. */
async function waitForEnd(waiting: Waiting, signal: AbortSignal): Promise<End> {
  const { output, factory, revision, timeoutMs } = waiting;
  output.note(`waiting for ${revision} in ${factory.slug} …`);
  let reported = '';
  const poll = poller(waiting);
  const end = await pollUntil(
    async () => {
      const found = await poll();
      if (typeof found !== 'string') return found;
      if (found !== reported && !signal.aborted) output.note(found);
      reported = found;
      return undefined;
    },
    timeoutMs,
    signal,
  );
  if (end === undefined)
    throw new CommandError(`${revision} does not serve after ${timeoutMs / 1_000} s: ${reported}`, EXIT.internal, [
      `see: millwright status ${factory.slug}`,
    ]);
  return end;
}

/**
 * Returns a function that polls once: the end, or a description of what is pending. A blocked state counts only if
 * it is seen after the requested sync, because the cause may be fixed already.
 */
function poller(waiting: Waiting): () => Promise<End | string> {
  let isConfirmed = waiting.asked === undefined;
  return async function pollOnce(): Promise<End | string> {
    const seen = await statusOf(waiting, waiting.revision);
    if (typeof seen === 'string') return seen;
    if (seen.state === 'serving' || (isConfirmed && isOver(seen))) return { status: seen };
    const words = `${seen.state}: ${seen.message}`;
    if (seen.state !== 'superseded' && !isOver(seen)) return words;
    const tip = await newestTip(waiting);
    if (tip === undefined) return words;
    const wasConfirmed = isConfirmed;
    isConfirmed = true;
    if (isOver(seen)) return pollOnce();
    return (wasConfirmed ? await blockedBy(waiting, tip) : undefined) ?? words;
  };
}

/** The tip that was last advertised, once the sync that was asked for is over; undefined before that. */
async function newestTip({ connected, factory, asked = 0 }: Waiting): Promise<{ revision: string | null } | undefined> {
  try {
    const state = await (await connected()).factories.status(factory.uid);
    return state.generation_handled >= asked ? { revision: state.revision_seen } : undefined;
  } catch (cause) {
    if (cause instanceof CommandError && cause.code === EXIT.internal) return undefined;
    throw cause;
  }
}

/** The end of a revision that newer ones superseded: people must act on the newest first. */
async function blockedBy(waiting: Waiting, { revision }: { revision: string | null }): Promise<End | undefined> {
  const tip = revision === null ? 'none yet' : await statusOf(waiting, revision);
  return typeof tip !== 'string' && tip.state === 'blocked' && isOver(tip)
    ? { status: tip, superseded: waiting.revision }
    : undefined;
}

/** Status of the revision, or a message when the server is unreachable: a restart is waited for. */
async function statusOf({ connected, factory }: Waiting, revision: string): Promise<RevisionStatus | string> {
  try {
    return await (await connected()).factories.revision(factory.uid, revision);
  } catch (cause) {
    if (cause instanceof CommandError && cause.code === EXIT.internal) return cause.message;
    throw cause;
  }
}

/** The end as soon as the forge was asked which pull request it goes back to; as it is where that takes long. */
async function withPullRequests(
  end: End,
  { connected, factory }: Pick<Waiting, 'connected' | 'factory'>,
): Promise<End> {
  const { revision, pull_requests: known } = end.status;
  if (known !== null) return end;
  const told = await pollUntil(async () => {
    const { pull_requests: found } = await (await connected()).factories.revision(factory.uid, revision);
    return found ?? undefined;
  }, FORGE_MS).catch(() => undefined); // what was waited for has come
  return told === undefined ? end : { ...end, status: { ...end.status, pull_requests: told } };
}

/** A window opens by itself, and what failed is tried again: only what people have to end is an end. */
function isOver({ state, sync }: RevisionStatus): boolean {
  return state === 'lost' || (state === 'blocked' && sync?.reason !== 'outside-sync-window');
}

/** Runs until SIGINT; undefined when that came first. */
async function interruptibly<T>(
  work: (signal: AbortSignal) => Promise<T>,
  output: Output,
  revision: string,
): Promise<T | undefined> {
  const stop = new AbortController();
  const stopped = new Promise<undefined>((resolve) => stop.signal.addEventListener('abort', () => resolve(undefined)));
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    const end = await Promise.race([
      work(stop.signal).catch((cause: unknown) => (stop.signal.aborted ? undefined : Promise.reject(cause as Error))),
      stopped,
    ]);
    if (stop.signal.aborted) output.note(`stopped; nobody waits for ${revision} any more, and it goes its way`);
    return end;
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

async function report(
  end: End,
  { format, output, factory, io }: { format: WaitFormat; output: Output; factory: Factory; io: CliIo },
): Promise<number> {
  const { code, summary } = printEnd(end, factory, format, output, io);
  const file = format === 'github' ? io.environment['GITHUB_STEP_SUMMARY'] : undefined;
  if (file !== undefined && file !== '') await appendFile(file, summary);
  return code;
}
