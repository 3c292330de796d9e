/** Ports for tests: of loopback, free a moment ago. */
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections, so that none of the many takes it before it is listened
 * on.
 */
const PORT_MIN = 18_000;
const PORT_MAX = 32_000;
const TRIES_MAX = 100;

/** A port of 127.0.0.1 that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
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
