/** The service as a process: starts, and stops on the signals that ask for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import 'reflect-metadata';
import type { BuiltInAgent } from './execution/agent/agents.ts';
import { Writable } from 'node:stream';
import type { Service, StandbyService } from './bootstrap.ts';
import { readConfig } from './config/config.ts';
import { rehearse } from './rehearsal.ts';
import { explainFailure } from './start-failures.ts';
import { prepareStart, start, type StartIo } from './start.ts';
import { bindSocket, openSocket, passedSocket } from './upgrade/listening-socket.ts';
import { SupervisorLink } from './upgrade/supervised-service.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/**
 * A start that was asked to end has this long to come to where it can stop in order: it may wait for another process's
 * migration, or for a server that is silent.
 */
const COMPOSED_MS_MAX = 5_000;

/**
 * How V8 collects garbage: read whenever it collects, so that they can be set in a process that runs.
 *
 * - Pretenuring makes objects of a place in the program old from their beginning, once most of some hundred of them
 *   survived: in a burst after the start all do, which wait for one commit together. From then on every delivery left
 *   its objects, and through them its body, to the next collection of everything.
 * - Several threads that copy two megabytes wait for each other longer than one takes.
 * - After a burst V8 lets the heap grow to a multiple of what lives, and keeps that as garbage for as long as little
 *   comes.
 */
const COLLECTOR_FLAGS = [
  '--no-allocation-site-pretenuring',
  '--no-parallel-scavenge',
  '--heap-growing-percent=50',
] as const;

/** Runs until a signal; answers the exit code. `builtInAgent`: see StartIo. */
export async function serve(argv: readonly string[], builtInAgent?: BuiltInAgent): Promise<number> {
  for (const flag of COLLECTOR_FLAGS) setFlagsFromString(flag);
  process.umask(0o077); // what the data folder holds is for its owner only, also when it is copied
  if (argv.includes('--supervised')) return supervise(argv.filter((word) => word !== '--supervised'));
  if (!argv.includes('--below-supervisor')) return serveAlone(argv, builtInAgent);
  if (process.connected) return serveSupervised(argv, builtInAgent);
  // It was killed while this was loaded: whoever starts the service again wants the folder and the address.
  process.stderr.write('millwright: the supervisor has ended before the service began: ended\n');
  return 0;
}

/** Holds the socket and runs the service below. */
async function supervise(argv: readonly string[]): Promise<number> {
  try {
    const config = readConfig(process.env);
    const passed = passedSocket(process.env, process.pid);
    const socket = passed === undefined ? await bindSocket(config.host, config.port) : openSocket(passed);
    const { Supervisor } = await import('./upgrade/supervisor.ts');
    const supervisor = new Supervisor({ socket, argv, dataDir: config.dataDir, environment: process.env });
    return await supervisor.run({ node: process.execPath, program: process.argv[1] ?? '' });
  } catch (error) {
    const { lines, code } = explainFailure(error);
    for (const line of lines) process.stderr.write(`millwright: ${line}\n`);
    return code;
  }
}

/** As the supervisor says: begins, steps aside for another version, comes back, ends. */
async function serveSupervised(argv: readonly string[], builtInAgent: BuiltInAgent | undefined): Promise<number> {
  const supervision = new SupervisorLink();
  const stop = asked();
  let standby: StandbyService | undefined;
  supervision.tell({ millwright: 'loaded', holdsConnections: true });
  try {
    for (;;) {
      const word = await Promise.race([supervision.next(), stop.then(() => 'end' as const)]);
      if (word === 'end') {
        await standby?.discard();
        return 0;
      }
      if (word === 'rehearse') {
        const lines = await rehearsed(builtInAgent);
        // What fails here fails again, and is said, when the service begins.
        standby = await prepareStart(argv, startIo(builtInAgent)).catch(() => undefined);
        supervision.tell(lines.length === 0 ? { millwright: 'rehearsed' } : { millwright: 'failed', lines });
        continue;
      }
      const lines: string[] = [];
      const { listenFd } = supervision;
      const listening = (service: Service): void => {
        supervision.takeConnections((connection) => service.adopt(connection));
        supervision.tell({ millwright: 'serving' });
      };
      const connectionsCame = (): Promise<void> => supervision.connectionsCame();
      const io = {
        ...startIo(builtInAgent),
        stderr: remembering(lines),
        listenFd,
        standby,
        listening,
        connectionsCame,
      };
      standby = undefined; // once: what comes back begins anew
      const service = await start(argv, io);
      if (typeof service === 'number') {
        supervision.tell({ millwright: 'failed', lines });
        return service;
      }
      const next = await Promise.race([supervision.next(), stop.then(() => 'end' as const), service.leftBehind]);
      void asked().then(() => service.engine?.hurry());
      if (next instanceof Error) return await endBehind(service, next);
      if (next !== 'aside') {
        await service.stop();
        return 0;
      }
      const { pausedMs, pass } = await service.stepAside();
      supervision.holdConnections();
      supervision.tell({ millwright: 'aside', pausedMs });
      await pass((connection) => supervision.pass(connection));
      supervision.tell({ millwright: 'passed' });
    }
  } finally {
    supervision.leave();
  }
}

/** What keeps it from beginning and is known already: faults of the configuration. */
async function rehearsed(builtInAgent: BuiltInAgent | undefined): Promise<readonly string[]> {
  try {
    await rehearse(readConfig(process.env), builtInAgent);
    return [];
  } catch (error) {
    return explainFailure(error).lines;
  }
}

/** To stderr, and kept for whoever asked for the upgrade. */
function remembering(lines: string[]): NodeJS.WritableStream {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString().trimEnd());
      process.stderr.write(chunk, () => done());
    },
  });
}

function startIo(builtInAgent: BuiltInAgent | undefined): StartIo {
  return {
    environment: process.env,
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    calledAs: process.argv[1],
    builtInAgent,
  };
}

async function serveAlone(argv: readonly string[], builtInAgent: BuiltInAgent | undefined): Promise<number> {
  const stop = asked(); // from now on: runs may be claimed before everything else has begun
  let isComposed = false;
  const starting = start(argv, { ...startIo(builtInAgent), composed: () => void (isComposed = true) });
  const tooLate = stop.then(() => sleep(COMPOSED_MS_MAX, undefined, { ref: false }));
  const service = await Promise.race([starting, tooLate.then(() => (isComposed ? starting : endNow()))]);
  if (typeof service === 'number') return service;
  const behind = await Promise.race([stop, service.leftBehind]);
  if (behind !== undefined) return endBehind(service, behind);
  // whoever asks twice does not want to wait; a third time ends the process as it stands
  void asked().then(() => service.engine?.hurry());
  await service.stop();
  return 0;
}

/** A newer version has taken away what this one uses: nothing is waited for, others go on with its runs. */
async function endBehind(service: Service, error: Error): Promise<number> {
  const { lines, code } = explainFailure(error);
  for (const line of lines) process.stderr.write(`millwright: ${line}\n`);
  service.engine?.hurry();
  await service.stop();
  return code;
}

/** Nothing works yet: what is left half done is what a kill would leave, and the next start does it again. */
function endNow(): never {
  process.stderr.write(
    'millwright: was asked to end before it had begun, and what it waited for did not come: ended\n',
  );
  process.exit(0);
}

/** Resolves with the next signal that asks the process to end. */
function asked(): Promise<void> {
  return new Promise((resolve) => {
    const heard = (): void => {
      for (const signal of SIGNALS) process.off(signal, heard);
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, heard);
  });
}
