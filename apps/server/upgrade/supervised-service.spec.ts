/** What a service does with the connections of the process before it: it holds them until it serves. contract §1.8. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { PassedConnection } from '../http/sockets/open-connections.ts';
import type { SocketHandle } from '../http/sockets/socket-handles.ts';
import type { ToService } from './handover-messages.ts';
import { SupervisorLink } from './supervised-service.ts';

let link: SupervisorLink;
let taken: string[];

beforeEach(() => {
  process.removeAllListeners('message');
  link = new SupervisorLink();
  taken = [];
});

function say(message: ToService, handle?: string): void {
  process.emit('message', message, handle as unknown as SocketHandle);
}

const connect = (name: string): void => say({ millwright: 'connection', isTrusted: false }, name);
const take = ({ handle }: PassedConnection): void => void taken.push(handle as unknown as string);

describe('connections of the process of before', () => {
  it('are held until the service takes them, in their order, and come at once from then on', () => {
    connect('one');
    connect('two');
    expect(taken).toEqual([]);
    link.takeConnections(take);
    connect('three');
    expect(taken).toEqual(['one', 'two', 'three']);
    link.holdConnections();
    connect('four');
    expect(taken).toHaveLength(3);
  });

  it('are waited for until the supervisor has passed all', async () => {
    say({ millwright: 'begin', isPassingFirst: true }, 'socket');
    expect(await link.next()).toBe('begin');
    let came = false;
    const coming = link.connectionsCame().then(() => (came = true));
    connect('one');
    await Promise.resolve();
    expect(came).toBe(false);
    say({ millwright: 'all-passed' });
    await coming;
    link.takeConnections(take);
    expect(taken).toEqual(['one']);
  });

  it.each<[what: string, begin: ToService]>([
    ['of another version, which passes them later', { millwright: 'begin' }],
    ['that cannot pass them all', { millwright: 'begin', isPassingFirst: true }],
  ])('are not waited for without end below a supervisor %s', async (_what, begin) => {
    say(begin, 'socket');
    expect(await link.next()).toBe('begin');
    await link.connectionsCame();
  });
});
