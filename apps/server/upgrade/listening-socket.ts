/**
 * The listening socket as a file descriptor: given by systemd, or opened here and listened on by others. contract §1.8
 * (Upgrades).
 */
import { lookup } from 'node:dns/promises';
import * as net from 'node:net';
import type { SocketHandle } from '../http/sockets/socket-handles.ts';

/** Where a process finds the first descriptor that was passed to it (sd_listen_fds(3)). */
const FIRST_FD = 3;

/** The sockets that this process was given are not what it can serve; one line with the way out. */
export class ListenFdsError extends Error {}

/** The descriptor that systemd passes; undefined: none, or meant for another process. Throws ListenFdsError. */
export function passedSocket(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): number | undefined {
  const { LISTEN_PID: of, LISTEN_FDS: count } = environment;
  if (of !== String(pid) || count === undefined || count === '0') return undefined;
  if (count !== '1')
    throw new ListenFdsError(`systemd passes ${count} sockets (LISTEN_FDS), and the service listens on one`);
  return FIRST_FD;
}

/** Node's own way to a handle that does not accept: what its cluster module opens for others. A number: errno. */
const createHandle = Reflect.get(net, '_createServerHandle') as (
  address: string | null,
  port: number,
  family: number,
  fd?: number,
) => SocketHandle | number;

/** Binds an address. Throws an error of the operating system. */
export async function bindSocket(host: string, port: number): Promise<SocketHandle> {
  const { address, family } = await lookup(host);
  return opened(createHandle(address, port, family));
}

/** A descriptor that was passed, as a handle. Throws an error of the operating system. */
export function openSocket(fd: number): SocketHandle {
  return opened(createHandle(null, 0, 0, fd));
}

function opened(handle: SocketHandle | number): SocketHandle {
  if (typeof handle !== 'number') return handle;
  const code = ERRORS.get(handle) ?? 'unknown';
  throw Object.assign(new Error(`bind ${code}`), { code, syscall: 'listen' });
}

/** What libuv says on Linux and on macOS. */
const ERRORS: ReadonlyMap<number, string> = new Map([
  [-98, 'EADDRINUSE'],
  [-48, 'EADDRINUSE'],
  [-13, 'EACCES'],
  [-99, 'EADDRNOTAVAIL'],
  [-49, 'EADDRNOTAVAIL'],
]);
