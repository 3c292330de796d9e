/** `millwright wait`: until a revision serves on every replica, or will not without people. contract 9, 11. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RevisionStatus } from '#contracts';
import { connect, SERVER_OPTIONS, type Api } from './api.ts';
import { Failure, UsageProblem, verb, type CliIo } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { findFactory } from './names.ts';
import { Output } from './output.ts';
import { printEnd, type WaitFormat } from './wait-report.ts';
import type { Factory, FactoryStatus } from './wire.ts';

/** A forge notices a push at once, a timer within a minute, a first clone takes minutes. */
const WAIT_SECONDS = 600;
/** Looks come soon at first, then seldom. */
const LOOK_MS_MIN = 100;
const LOOK_MS_MAX = 2_000;

/** A whole revision, or a commit ID of 7 digits or more. */
const REVISION = /^(?:[0-9a-f]{7,64}|sha256:[0-9a-f]{64}|[^\s@:][^\s]*@sha(?:1:[0-9a-f]{40}|256:[0-9a-f]{64}))$/;
const FORMATS: readonly string[] = ['text', 'json', 'github'] satisfies WaitFormat[];

/** The verb `wait`. */
export const wait = verb({
  name: 'wait',
  arguments: '[FACTORY]',
  summary: 'Waits until a revision, or a later one that holds it, serves on every replica.',
  details: [
    'Asks for a sync first, where the key may. A repository that cannot be read and a closed sync window are waited for.',
    'Ends with 0 when it serves, 1 when problems or people keep it from it, 4 when it waits for an approval, 3 when the time is over.',
  ],
  positionals: [0, 1],
  options: {
    revision: { type: 'string', required: true, value: 'SHA', help: 'commit ID (7 digits or more), or a whole revision as `millwright status` prints it' },
    timeout: { type: 'string', value: 'SECONDS', help: `how long to wait (default ${WAIT_SECONDS})` },
    ...SERVER_OPTIONS,
    format: { type: 'string', value: FORMATS.join('|'), help: 'text for people (default), the JSON of the API, or workflow commands and a summary' },
  },
  async run({ values, positionals: [name] }, io) {
    const format = readFormat(values.format);
    const output = new Output(io, format === 'json' ? 'json' : 'text');
    const revision = readRevision(values.revision);
    const timeoutMs = secondsOf(values.timeout) * 1_000;
    const api = connect({ server: values.server, keyFile: values['key-file'] }, io);
    const factory = await findFactory(api, name);
    const asked = await ask(api, factory, output);
    const end = await interruptibly((signal) => settled({ api, output, factory, revision, asked, timeoutMs }, signal), output, revision);
    return end === undefined ? EXIT.internal : report(end, { format, output, factory, io });
  },
});

function readFormat(text = 'text'): WaitFormat {
  if (FORMATS.includes(text)) return text as WaitFormat;
  throw new UsageProblem(`--format must be one of ${FORMATS.join(', ')}`);
}

function readRevision(text: string): string {
  const revision = /^[0-9A-Fa-f]{7,64}$/.test(text) ? text.toLowerCase() : text;
  if (REVISION.test(revision)) return revision;
  throw new UsageProblem('--revision must be a commit ID of 7 digits or more, or a whole revision: branch@sha1:… or sha256:…');
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return WAIT_SECONDS;
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageProblem('--timeout must be a whole number of seconds, 1 to 99999');
}

/** Asks for a sync, so that the timer is not waited for; answers its generation. A key that may only look is enough. */
async function ask(api: Api, factory: Factory, output: Output): Promise<number | undefined> {
  try {
    return (await api.call<{ generation_requested: number }>('POST', `/factory/${factory.uid}/sync`)).generation_requested;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    output.note(`no sync was asked for: ${cause.message}`);
    return undefined;
  }
}

interface Waiting {
  api: Api;
  output: Output;
  factory: Factory;
  revision: string;
  /** Generation of the sync that was asked for. */
  asked: number | undefined;
  timeoutMs: number;
}

/** Looks until the revision serves, or will not without people. Throws Failure when the time is over. */
async function settled(waiting: Waiting, signal: AbortSignal): Promise<RevisionStatus> {
  const { output, factory, revision, timeoutMs } = waiting;
  output.note(`waiting for ${revision} in ${factory.slug} …`);
  const deadline = performance.now() + timeoutMs;
  let told = '';
  let isConfirmed = waiting.asked === undefined;
  for (let pauseMs = LOOK_MS_MIN; ; pauseMs = Math.min(LOOK_MS_MAX, pauseMs * 1.5)) {
    const seen = await look(waiting);
    if (typeof seen !== 'string' && (seen.state === 'serving' || (isConfirmed && isOver(seen)))) return seen;
    if (typeof seen !== 'string' && isOver(seen) && (await isHandled(waiting))) {
      isConfirmed = true;
      continue; // what was seen may be from before that
    }
    const words = typeof seen === 'string' ? seen : `${seen.state}: ${seen.message}`;
    if (words !== told && !signal.aborted) output.note(words);
    told = words;
    if (performance.now() > deadline) throw new Failure(`${revision} does not serve after ${timeoutMs / 1_000} s: ${words}`, EXIT.internal, [`see: millwright status ${factory.slug}`]);
    await sleep(Math.min(pauseMs, Math.max(1, deadline - performance.now() + 1)), undefined, { signal });
  }
}

/** Where the revision stands; words, when the server cannot be asked now: one that starts again is waited for. */
async function look({ api, factory, revision }: Waiting): Promise<RevisionStatus | string> {
  try {
    return await api.call<RevisionStatus>('GET', `/factory/${factory.uid}/revisions/${encodeURIComponent(revision)}`);
  } catch (cause) {
    if (cause instanceof Failure && cause.code === EXIT.internal) return cause.message;
    throw cause;
  }
}

/** A window opens by itself, and what failed is tried again: only what people have to end is an end. */
function isOver({ state, sync }: RevisionStatus): boolean {
  return state === 'lost' || (state === 'blocked' && sync?.reason !== 'outside-sync-window');
}

/** Whether the sync that was asked for is over. What blocked a revision may be mended already: a verdict counts when that sync has confirmed it. */
async function isHandled({ api, factory, asked }: Waiting): Promise<boolean> {
  if (asked === undefined) return true;
  try {
    return (await api.call<FactoryStatus>('GET', `/factory/${factory.uid}/status`)).generation_handled >= asked;
  } catch (cause) {
    if (cause instanceof Failure && cause.code === EXIT.internal) return false;
    throw cause;
  }
}

/** Runs until SIGINT; undefined when that came first. */
async function interruptibly<T>(work: (signal: AbortSignal) => Promise<T>, output: Output, revision: string): Promise<T | undefined> {
  const stop = new AbortController();
  const stopped = new Promise<undefined>((resolve) => stop.signal.addEventListener('abort', () => resolve(undefined)));
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    const end = await Promise.race([work(stop.signal).catch((cause: unknown) => (stop.signal.aborted ? undefined : Promise.reject(cause as Error))), stopped]);
    if (stop.signal.aborted) output.note(`stopped; nobody waits for ${revision} any more, and it goes its way`);
    return end;
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

async function report(end: RevisionStatus, { format, output, factory, io }: { format: WaitFormat; output: Output; factory: Factory; io: CliIo }): Promise<number> {
  const { code, summary } = printEnd(end, factory, format, output, io);
  const file = format === 'github' ? io.environment['GITHUB_STEP_SUMMARY'] : undefined;
  if (file !== undefined && file !== '') await appendFile(file, summary);
  return code;
}
