/**
 * The load generator as a separate process: one load at a time over IPC. Requests are built and connections opened
 * before it says that it may begin, and closed when it is told that everything has been measured.
 */
import { randomBytes } from 'node:crypto';
import { openLoad, type OpenLoad } from './load-generator.ts';
import type { LoadMessage, LoadOrder, LoadStep } from './loads.ts';
import { natsProtocol } from './nats.ts';
import { requestOf } from './senders.ts';

let opened: OpenLoad | undefined;

process.on('message', (step: LoadStep) => {
  carryOut(step).then(
    (message) => message !== undefined && process.send?.(message),
    (error: unknown) => process.send?.({ error: (error as Error).message } satisfies LoadMessage),
  );
});
process.on('disconnect', () => process.exit());

async function carryOut(step: LoadStep): Promise<LoadMessage | undefined> {
  if ('order' in step) {
    opened?.close(); // of a load that failed
    opened = await open(step.order);
    return { opened: true };
  }
  if (step.next === 'send') return { result: await send() };
  opened?.close();
  opened = undefined;
  return undefined;
}

function open(order: LoadOrder): Promise<OpenLoad> {
  const { sender, targets, from, port, distinct, count, reportOf } = order;
  const tag = randomBytes(6).toString('hex');
  const nowMs = Date.now();
  const requests = Array.from({ length: Math.min(count, distinct) }, (_, n) => {
    const target = targets[(from + n) % targets.length];
    if (target === undefined) throw new Error('a load needs a target');
    return requestOf(sender, target, `bench-${tag}-${String(n).padStart(9, '0')}`, port, nowMs, reportOf);
  });
  return openLoad({
    ...order,
    request: (n) => requests[n % requests.length] as Buffer,
    protocol: sender === 'nats' ? natsProtocol(targets[0]?.secret ?? '') : undefined,
  });
}

async function send() {
  if (opened === undefined) throw new Error('a load is opened before it is sent');
  const before = process.cpuUsage();
  const result = await opened.send();
  const used = process.cpuUsage(before);
  return { ...result, generatorBusy: (used.user + used.system) / 1e6 / result.seconds };
}
