/** The load generator as a separate process: one load at a time over IPC, requests built before the clock starts. */
import { randomBytes } from 'node:crypto';
import { generate } from './load-generator.ts';
import type { LoadOrder } from './loads.ts';
import { natsProtocol } from './nats.ts';
import { requestOf } from './senders.ts';

process.on('message', (order: LoadOrder) => {
  carryOut(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: (error as Error).message }),
  );
});
process.on('disconnect', () => process.exit());

async function carryOut(order: LoadOrder): Promise<unknown> {
  const { sender, targets, from, port, distinct, count, reportOf } = order;
  const tag = randomBytes(6).toString('hex');
  const nowMs = Date.now();
  const requests = Array.from({ length: Math.min(count, distinct) }, (_, n) => {
    const target = targets[(from + n) % targets.length];
    if (target === undefined) throw new Error('a load needs a target');
    return requestOf(sender, target, `bench-${tag}-${String(n).padStart(9, '0')}`, port, nowMs, reportOf);
  });
  const before = process.cpuUsage();
  const result = await generate({
    ...order,
    request: (n) => requests[n % requests.length] as Buffer,
    protocol: sender === 'nats' ? natsProtocol(targets[0]?.secret ?? '') : undefined,
  });
  const used = process.cpuUsage(before);
  return { ...result, generatorBusy: (used.user + used.system) / 1e6 / result.seconds };
}
