/** A real balancer in front of replicas: Debian's haproxy, which asks each whether it is ready. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Server } from '../bench.ts';

/** What replicas are called behind it. */
export const BALANCED_HOST = 'replicas.example';

/** Whether there is one on this machine. */
export function hasHaproxy(): boolean {
  try {
    execFileSync('haproxy', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts it. `ports`: where replicas are or will be; one is sent to once `/readyz` has answered 200, and no more once
 * it
 * has not. A connection that a replica refuses goes to another one.
 */
export function haproxyOver(bench: Bench, ports: readonly number[]): Promise<Server> {
  const folder = bench.folder('haproxy');
  const file = join(folder, 'haproxy.cfg');
  return bench.program(
    'haproxy',
    (port) => {
      writeFileSync(file, configuration(port, ports));
      return ['-db', '-f', file];
    },
    (port) =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
  );
}

const configuration = (port: number, ports: readonly number[]): string => `global
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 2s
  option redispatch
  retries 3
listen replicas
  bind 127.0.0.1:${port}
  balance roundrobin
  http-request set-header Host ${BALANCED_HOST}
  option httpchk GET /readyz
  default-server inter 200ms fastinter 100ms downinter 200ms rise 1 fall 1
${ports.map((at) => `  server at-${at} 127.0.0.1:${at} check`).join('\n')}
`;
