/** `millwright start` whose runs pause at named points, to be killed exactly there. */
import { Engine } from '../../../apps/server/execution/engine/engine.ts';
import { serve } from '../../../apps/server/main.ts';
import { RunStore } from '../../../apps/server/store/runs/runs.ts';
import { SUITE_AGENT } from '../agents/suite-agent.ts';

/** Methods before whose work a run with this title stands still. */
const POINTS = {
  'after-claim': 'prepare',
  'before-begin': 'begin',
  'after-spawn': 'noteProcess',
  'before-end': 'finish',
} as const;

/** Milliseconds of a lease, and between two looks for lost runs; as the product has them unless said. */
const leaseMs = Number(process.env['CRASH_LEASE_MS'] ?? 0);

for (const [point, method] of Object.entries(POINTS)) pauseAt(point, method);
if (leaseMs > 0) shortenLeases();
process.exitCode = await serve(process.argv.slice(3), SUITE_AGENT);

function pauseAt(point: string, method: (typeof POINTS)[keyof typeof POINTS]): void {
  if (process.env['CRASH_POINTS'] !== 'true') return;
  const methods = RunStore.prototype as unknown as Record<
    string,
    (this: RunStore, claim: { runId: string }, ...rest: unknown[]) => Promise<unknown>
  >;
  const original = methods[method];
  if (original === undefined) throw new Error(`the store has no ${method} any more`);
  methods[method] = async function (claim, ...rest) {
    if ((await this.find(claim.runId))?.title === point) {
      process.stderr.write(`STANDS ${point}\n`);
      await new Promise(() => undefined);
    }
    return original.call(this, claim, ...rest);
  };
}

function shortenLeases(): void {
  const start = Engine.prototype.start;
  Engine.prototype.start = function () {
    (this as unknown as { deps: { leaseMs?: number } }).deps.leaseMs = leaseMs;
    setInterval(() => void this.recover().catch(() => undefined), leaseMs / 4).unref();
    start.call(this);
  };
}
