/**
 * Which factories a process follows: told of one, it looks at that one; told of nothing, it finds out by looking; never
 * two things at once for one factory. contract §9.
 */
import { jest } from '@jest/globals';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { Notices, type NoticeTransport } from '../store/database/notices.ts';
import type { SyncLoops } from './loops.ts';
import { FactoryAssignments } from './factory-assignments.ts';

let stored: Map<string, { isAsked: boolean }>;
let done: string[];
let followed: Set<string>;
let anything: () => void;
let notices: Notices;
let roster: FactoryAssignments;
/** Holds up what is done for a factory. */
let held: Promise<void>;

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
  [stored, done, followed, held] = [new Map([['a', { isAsked: false }]]), [], new Set(), Promise.resolve()];
  const line: NoticeTransport = {
    start: (_hear, all) => void (anything = all),
    send: () => undefined,
    stop: async () => undefined,
  };
  notices = new Notices((fault) => void done.push(`fault ${String(fault)}`), line);
  const loops = {
    followed: () => [...followed],
    async add({ uid }: Factory) {
      done.push(`add ${uid}`);
      if (uid === 'broken') throw new Error('broken');
      await held;
      followed.add(uid);
    },
    remove: async (uid: string) => void [done.push(`remove ${uid}`), followed.delete(uid)],
    wake: (uid: string, trigger: string) => void done.push(`wake ${uid} ${trigger}`),
    isRunning: (uid: string) => uid === 'busy',
  };
  const factories = {
    list: async () => [...stored.keys()].map((uid) => ({ uid }) as Factory),
    find: async (uid: string) => (stored.has(uid) ? ({ uid } as Factory) : undefined),
    syncRequests: async () => [...stored].map(([uid, { isAsked }]) => ({ uid, isAsked })),
  };
  roster = new FactoryAssignments({
    factories: factories as unknown as FactoryStore,
    loops: loops as unknown as SyncLoops,
    notices,
    pollMs: 'usual',
    forgetSource: async (uid) => void done.push(`forget ${uid}`),
    report: (fault) => void done.push(`fault ${String(fault)}`),
  });
  await roster.start();
  notices.start();
});

afterEach(async () => {
  await roster.stop();
  jest.useRealTimers();
});

const settled = (): Promise<unknown> => jest.advanceTimersByTimeAsync(0);
const look = (): Promise<unknown> => jest.advanceTimersByTimeAsync(5_000);

it('takes up what there is, and what it is told of', async () => {
  stored.set('b', { isAsked: true });
  notices.publish('factory', 'b');
  await settled();
  expect(done).toEqual(['add a', 'add b']);
});

it('lets go of what it is told is gone, and of what was fetched for it', async () => {
  stored.delete('a');
  notices.publish('factory', 'a');
  await settled();
  expect(done).toEqual(['add a', 'remove a', 'forget a']);
});

it('leaves to the loops what only concerns them', async () => {
  notices.publish('factory', 'a:api');
  await settled();
  expect(done).toEqual(['add a']);
});

it('finds by looking what nobody told: made, deleted, asked for; not what is worked on already', async () => {
  stored = new Map([
    ['b', { isAsked: true }],
    ['busy', { isAsked: true }],
    ['c', { isAsked: true }],
  ]);
  followed = new Set(['a', 'busy', 'c']);
  done = [];
  await look();
  expect(done).toEqual(['add b', 'wake c api', 'remove a', 'forget a']);
});

it('looks at once when it may have missed something', async () => {
  stored.set('b', { isAsked: true });
  anything();
  await settled();
  expect(done).toContain('add b');
});

it('does one thing after the other for one factory, and once what is asked several times meanwhile', async () => {
  let go: () => void = () => undefined;
  held = new Promise((resolve) => (go = resolve));
  const first = roster.follow('a');
  await settled();
  stored.delete('a');
  const others = [roster.follow('a'), roster.follow('a'), roster.follow('a')];
  await settled();
  expect(done).toEqual(['add a', 'add a']);
  go();
  await Promise.all([first, ...others]);
  expect(done).toEqual(['add a', 'add a', 'remove a', 'forget a']);
});

it('does nothing more when it is stopped', async () => {
  await roster.stop();
  stored.set('b', { isAsked: true });
  notices.publish('factory', 'b');
  await look();
  expect(done).toEqual(['add a']);
});

it('follows what stands behind a factory that it cannot follow', async () => {
  stored.set('broken', { isAsked: false }).set('c', { isAsked: false });
  await look();
  expect(done).toEqual(['add a', 'add broken', 'fault Error: broken', 'add c']);
});
