/** Ports for tests: of loopback, free a moment ago. */
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections, so that none of the many takes it before it is listened
 * on.
 */
const PORT_MIN = 18_000;
const PORT_MAX = 32_000;
/**
 * Workers of one run, and of two beside each other, the second of which has TEST_RUN=1, have shares of their own: none
 * takes what another has found.
 */
const WORKERS = 16;
const RUNS = 2;
const SHARE = (PORT_MAX - PORT_MIN) / WORKERS;
const WORKER = Number(process.env['JEST_WORKER_ID'] ?? 0) + Number(process.env['TEST_RUN'] ?? 0) * (WORKERS / RUNS);
const FIRST = PORT_MIN + (WORKER % WORKERS) * SHARE;

/** Begins anywhere, for other runs on this machine have the same shares; a port comes again after all others. */
let next = Math.floor(Math.random() * SHARE);

/** A port of 127.0.0.1 that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < SHARE; tries += 1) {
    const port = FIRST + next;
    next = (next + 1) % SHARE;
    if (await isFree(port)) return port;
  }
  throw new Error('no port of loopback is free');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
