/** NATS JetStream that syncs every message, as a bare durable queue. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { createStream } from '../loads/nats.ts';
import { programOf, REQUESTS_MAX, type Found } from './receiver.ts';

/** How an acknowledged publication is called. */
const STORED = 'stored';
const NAME = 'NATS JetStream';

/** A stream in files. */
export async function natsServer(bench: Bench): Promise<Found> {
  const program = programOf('BENCH_NATS', 'nats-server');
  if (program === undefined)
    return (
      `${NAME} SKIPPED: no program nats-server on the PATH, and no BENCH_NATS ` +
      '(go install github.com/nats-io/nats-server/v2@v2.11.10)'
    );
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const [folder, token] = [bench.folder('nats'), randomBytes(24).toString('hex')];
  const file = join(folder, 'nats.conf');
  writeFileSync(file, settings(0, folder, token));
  if (spawnSync(program, ['-t', '-c', file]).status !== 0)
    return `${NAME} SKIPPED: ${version} cannot sync every message (sync_interval: always comes with 2.10)`;
  const server = await bench.program(
    program,
    (port) => {
      writeFileSync(file, settings(port, folder, token));
      return ['-c', file];
    },
    (port) =>
      createStream(port, token).then(
        () => true,
        () => false,
      ),
  );
  return {
    name: NAME,
    server,
    databases: [],
    targets: { token: [{ path: '/', secret: token }] },
    accepted: STORED,
    sender: 'nats',
    requestsMax: REQUESTS_MAX,
    goesOn: false,
    durable: 'message',
    duplicates: '2 minutes',
    signatures: 'no: once a connection',
    does:
      `${version}, stream in files, sync_interval: always: one message of 1 KiB after the other on each connection, ` +
      'acknowledged when it is synced; no HTTP, no rate, no runs',
  };
}

const settings = (port: number, folder: string, token: string): string =>
  `listen: "127.0.0.1:${port}"\nauthorization { token: "${token}" }\n` +
  `jetstream { store_dir: "${folder}", sync_interval: always }\n`;
