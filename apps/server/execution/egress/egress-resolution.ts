/**
 * From a name to an open connection: resolved at a bounded pace, dialled at exactly the addresses that were judged.
 * contract §10.
 */
import { lookup, Resolver } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EgressRules, isListed } from '#isolation';

/** The addresses of a name; empty: there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Milliseconds that a request waits for the addresses of a name; resolvers themselves give up after about as long. */
const RESOLVE_MS_MAX = 10_000;
/** Milliseconds that an answer is used again: an agent asks for the same few hosts. */
const KNOWN_MS = 30_000;
/** Names remembered of one run. */
const KNOWN_MAX = 256;
/** Names of one run that wait to be resolved, one after the other. */
const WAITING_MAX = 64;

/** Milliseconds for one address to answer, and addresses tried of one name. */
const DIAL_MS_MAX = 10_000;
const DIALLED_MAX = 3;

/** Milliseconds for one question to a name server, and how often it is asked. */
const QUESTION = { timeout: 3_000, tries: 2 };

/**
 * Names that a list holds as every program of this machine resolves them, `/etc/hosts` included. Names that the run
 * chose by questions to the name servers alone: the machine's way shares two threads with the service, and a run could
 * keep both waiting for names that never answer.
 */
export function resolverFor(rules: EgressRules): Resolve {
  const servers = new Resolver(QUESTION);
  return async (name) => {
    if (isListed(rules, { kind: 'name', name }))
      return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
    const answers = await Promise.all([servers.resolve4(name).catch(() => []), servers.resolve6(name).catch(() => [])]);
    return answers.flat();
  };
}

/** Every address of this machine, as they are now. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}

/** A resolver for one run: names one after the other, answers used again for a short time. */
export class PacedResolver {
  private readonly resolve: Resolve;
  private readonly over: AbortSignal;
  private readonly known = new Map<string, Promise<readonly string[]>>();
  private waiting = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(resolve: Resolve, over: AbortSignal) {
    this.resolve = resolve;
    this.over = over;
  }

  /** Undefined while too many names wait, or it takes too long. */
  async addressesOf(name: string): Promise<readonly string[] | undefined> {
    const { known } = this;
    let answer = known.get(name);
    if (answer === undefined) {
      if (this.waiting >= WAITING_MAX) return undefined;
      if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value ?? name);
      known.set(name, (answer = this.ask(name)));
    }
    return timely(answer);
  }

  private ask(name: string): Promise<readonly string[]> {
    this.waiting += 1;
    const answer = this.last.then(() => (this.over.aborted ? [] : this.resolve(name))).catch(() => []);
    this.last = answer;
    void answer.then(() => {
      this.waiting -= 1;
      setTimeout(() => this.known.delete(name), KNOWN_MS).unref();
    });
    return answer;
  }
}

async function timely<T>(answer: Promise<T>): Promise<T | undefined> {
  const answered = new AbortController();
  const late = sleep(RESOLVE_MS_MAX, undefined, { ref: false, signal: answered.signal }).catch(() => undefined);
  const result = await Promise.race([answer, late]);
  answered.abort();
  return result;
}

/** A connection to the first of the addresses that answers. Nothing is resolved again. */
export async function dial(addresses: readonly string[], port: number, gone: AbortSignal): Promise<Socket | undefined> {
  for (const address of addresses.slice(0, DIALLED_MAX)) {
    const socket = gone.aborted ? undefined : await dialled(address, port, gone);
    if (socket !== undefined) return socket;
  }
  return undefined;
}

function dialled(host: string, port: number, gone: AbortSignal): Promise<Socket | undefined> {
  const socket = connect({ host, port, allowHalfOpen: true });
  return new Promise((resolve) => {
    const failed = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.setTimeout(DIAL_MS_MAX, failed);
    gone.addEventListener('abort', failed, { once: true });
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.setTimeout(0).off('timeout', failed).off('error', failed);
      gone.removeEventListener('abort', failed);
      resolve(socket);
    });
  });
}
