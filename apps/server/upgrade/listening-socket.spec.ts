import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { bindSocket, ListenFdsError, passedSocket } from './listening-socket.ts';

describe('the socket that systemd passes', () => {
  it.each<[why: string, environment: Record<string, string>, fd: number | undefined]>([
    ['is the first descriptor', { LISTEN_PID: '7', LISTEN_FDS: '1' }, 3],
    ['is none where nothing is said', {}, undefined],
    ['is none where there are none', { LISTEN_PID: '7', LISTEN_FDS: '0' }, undefined],
    ['is not for a child of the process that was given it', { LISTEN_PID: '8', LISTEN_FDS: '1' }, undefined],
  ])('%s', (_why, environment, fd) => {
    expect(passedSocket(environment, 7)).toBe(fd);
  });

  it('is one: of two the service would not know which', () => {
    expect(() => passedSocket({ LISTEN_PID: '7', LISTEN_FDS: '2' }, 7)).toThrow(ListenFdsError);
  });
});

describe('a socket that is bound', () => {
  it('is listened on by whoever has its descriptor', async () => {
    const socket = await bindSocket('127.0.0.1', 0);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ fd: socket.fd }, resolve));
    expect((server.address() as AddressInfo).port).toBeGreaterThan(0);
    await new Promise((resolve) => server.close(resolve));
  });

  it('of an address that is not of this machine says so', async () => {
    await expect(bindSocket('192.0.2.1', 0)).rejects.toMatchObject({ code: 'EADDRNOTAVAIL', syscall: 'listen' });
  });
});
