/** A lean load generator: keep-alive sockets, one request in flight on each, bounded in count and time. Loopback only. */
import { connect, type Socket } from 'node:net';

export interface LoadResult {
  requests: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers by status. */
  statuses: Record<string, number>;
}

export interface Load {
  port: number;
  connections: number;
  /** How many requests are sent in all. */
  requests: number;
  /** No request is sent after this time. */
  secondsMax: number;
  /** Bytes of the n-th request. */
  request(n: number): Buffer;
}

/** Sends the load and answers what came back. Rejects when a connection breaks. */
export async function run(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let next = 0;
  const startedAt = performance.now();
  const take = (): number | undefined => (next < load.requests && performance.now() - startedAt < load.secondsMax * 1000 ? next++ : undefined);
  await Promise.all(Array.from({ length: load.connections }, () => drive(load, take, latencies, statuses)));
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  return { requests: latencies.length, seconds, perSecond: latencies.length / seconds, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99), statuses };
}

function drive(load: Load, take: () => number | undefined, latencies: number[], statuses: Record<string, number>): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(load.port, '127.0.0.1');
    socket.setNoDelay(true);
    let sentAt = 0;
    let answer = '';
    const send = (): void => {
      const n = take();
      if (n === undefined) {
        socket.end();
        return resolve();
      }
      sentAt = performance.now();
      socket.write(load.request(n));
    };
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('a server closed a connection that was in use'))); // nothing happens where all is sent
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      const end = endOf(answer);
      if (end === undefined) return;
      latencies.push(performance.now() - sentAt);
      const status = answer.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answer = answer.slice(end);
      send();
    });
  });
}

/** Where the first complete answer ends; every server measured here sends Content-Length. */
function endOf(answer: string): number | undefined {
  const head = answer.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head + 2))?.[1];
  const end = head + 4 + Number(length ?? 0);
  return answer.length >= end ? end : undefined;
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
