/** Loads on one receiver, with what all of its processes take for them until they rest. */
import type { Bench } from '../bench.ts';
import { familyOf } from '../figures/process-times.ts';
import { secondsOf, type LoadGenerator, type LoadOrder, type Measured } from '../loads/loads.ts';
import type { Target } from '../loads/senders.ts';
import { traceFileCalls, type FileCalls } from './file-calls.ts';
import type { Proof, Receiver } from './receiver.ts';

/** Fewer than elsewhere: one of the receivers starts a process for each. */
export const CONNECTIONS = 64;
/** Between two looks whether it rests. */
const QUIET_MS = 300;
/** Less is what idle processes take. */
const QUIET_SHARE = 0.1;
/** What was begun behind answers is waited for; what is only put off, as merges and checkpoints are, for a while. */
const QUIET_MS_MAX = { begun: 60_000, deferred: 1_000 };
/** Deliveries whose calls are traced: one after the other, and all connections at once. */
const TRACED = { alone: 100, together: 500 };
const WARM_UP_SECONDS = { whole: 2, quick: 0.4 };
const LOAD_SECONDS = { whole: 2, quick: 0.6 };
/** Of a trial. */
const FEW_SECONDS_MAX = 10;

/** What a delivery takes of the disk. */
export interface DiskUse {
  /** Calls that sync a file, when deliveries come one after the other. */
  syncsAlone: number;
  /** The same and the bytes that are handed to files, when they come on all connections. */
  syncsTogether: number;
  bytesTogether: number;
}

export class ReceiverDriver {
  private readonly bench: Bench;
  private readonly generator: LoadGenerator;

  constructor(bench: Bench) {
    this.bench = bench;
    this.generator = bench.generator();
  }

  private get extent(): 'whole' | 'quick' {
    return this.bench.quick ? 'quick' : 'whole';
  }

  async warmUp(receiver: Receiver, proof: Proof): Promise<void> {
    await this.generator.drive({ ...orderOf(receiver, proof), secondsMax: WARM_UP_SECONDS[this.extent] }, []);
    if (receiver.goesOn) await secondsUntilQuiet(receiver);
  }

  /** As fast as it goes, or at a pace. "/s" counts until everything that the answers began has ended. */
  async drive(receiver: Receiver, proof: Proof, perSecond?: number): Promise<Measured> {
    const { server, requestsMax, goesOn } = receiver;
    const secondsMax = LOAD_SECONDS[this.extent];
    const count = perSecond === undefined ? requestsMax : Math.ceil(perSecond * secondsMax);
    const secondsBefore = secondsOf(familiesOf(receiver));
    const load = await this.generator.drive({ ...orderOf(receiver, proof), secondsMax, perSecond, count }, [
      server.pid,
    ]);
    const rested = perSecond === undefined ? await secondsUntilQuiet(receiver) : 0;
    const cpuSeconds = secondsOf(familiesOf(receiver)) - secondsBefore;
    const seconds = load.seconds + (goesOn ? rested : 0);
    return {
      ...load,
      seconds,
      perSecond: load.requests / seconds,
      cpuMicros: (cpuSeconds * 1e6) / Math.max(1, load.requests),
    };
  }

  /** NaN where it cannot be traced. */
  async diskUse(receiver: Receiver, proof: Proof): Promise<DiskUse> {
    const alone = await this.traced({ ...few(receiver, proof), count: TRACED.alone, distinct: TRACED.alone }, receiver);
    const together = await this.traced(
      {
        ...orderOf(receiver, proof),
        secondsMax: FEW_SECONDS_MAX,
        count: TRACED.together,
        distinct: TRACED.together,
      },
      receiver,
    );
    return { syncsAlone: alone.syncs, syncsTogether: together.syncs, bytesTogether: together.bytesWritten };
  }

  private async traced(order: LoadOrder, receiver: Receiver): Promise<FileCalls> {
    let requests = 1;
    const calls = await traceFileCalls(familiesOf(receiver), this.bench.folder('calls'), async () => {
      ({ requests } = await this.generator.drive(order, []));
    });
    return {
      syncs: (calls?.syncs ?? Number.NaN) / requests,
      bytesWritten: (calls?.bytesWritten ?? Number.NaN) / requests,
    };
  }

  /** Whether a delivery with a secret of nobody is accepted. */
  async isFooled(receiver: Receiver, proof: Proof): Promise<boolean> {
    const targets = (receiver.targets[proof] ?? []).slice(0, 1);
    const forged = targets.map(({ secret, ...rest }): Target => ({ ...rest, secret: secret.replace(/.$/, '!') }));
    const { statuses } = await this.generator.drive({ ...few(receiver, proof), targets: forged }, []);
    return statuses[receiver.accepted ?? '202'] !== undefined;
  }
}

const few = (receiver: Receiver, proof: Proof): LoadOrder => ({
  ...orderOf(receiver, proof),
  connections: 1,
  count: 1,
  distinct: 1,
  secondsMax: FEW_SECONDS_MAX,
});

function orderOf({ server, targets, sender, requestsMax }: Receiver, proof: Proof): LoadOrder {
  return {
    port: server.port,
    sender: sender ?? proof,
    targets: targets[proof] ?? [],
    from: 0,
    connections: CONNECTIONS,
    count: requestsMax,
    secondsMax: 0,
    addresses: 1,
    distinct: requestsMax,
  };
}

const familiesOf = ({ server, databases }: Receiver): number[] => [server.pid, ...databases].flatMap(familyOf);

/** Seconds until its processes take hardly any time any more. */
async function secondsUntilQuiet(receiver: Receiver): Promise<number> {
  const [beganAtMs, mostMs] = [performance.now(), QUIET_MS_MAX[receiver.goesOn ? 'begun' : 'deferred']];
  for (;;) {
    const [atMs, seconds] = [performance.now(), secondsOf(familiesOf(receiver))];
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const busy = ((secondsOf(familiesOf(receiver)) - seconds) * 1_000) / (performance.now() - atMs);
    if (busy <= QUIET_SHARE || performance.now() - beganAtMs > mostMs) return (atMs - beganAtMs) / 1_000;
  }
}
