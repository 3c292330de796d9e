/** The lease of a pass: renewed while it lasts, lost where another replica has it, released once. */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { FenceLostError } from '../store/database/store-errors.ts';
import { PASS_LEASE_MS, PassLease } from './pass-lease.ts';

/** What the table of factories answers, and what it was asked. */
function leaseTable(renewals: (() => Promise<boolean>)[] = []) {
  const asked: string[] = [];
  const reported: unknown[] = [];
  const leases = {
    acquireLease: (uid: string, owner: string, forMs: number) => {
      asked.push(`acquire ${uid} ${owner} ${forMs}`);
      return Promise.resolve({ fence: 7, untilMs: forMs });
    },
    renewLease: (uid: string, fence: number) => {
      asked.push(`renew ${uid} ${fence}`);
      return renewals.shift()?.() ?? Promise.resolve(true);
    },
    releaseLease: (uid: string, fence: number) => {
      asked.push(`release ${uid} ${fence}`);
      return Promise.resolve();
    },
  };
  return { deps: { leases, owner: 'me', report: (fault: unknown) => void reported.push(fault) }, asked, reported };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

async function acquire({ deps }: ReturnType<typeof leaseTable>): Promise<PassLease> {
  const lease = await PassLease.acquire(deps, 'f');
  if (lease === undefined) throw new Error('the lease is free');
  return lease;
}

it('is renewed three times in its term, and never after its release', async () => {
  const table = leaseTable();
  const lease = await acquire(table);
  await jest.advanceTimersByTimeAsync(PASS_LEASE_MS);
  await lease.release();
  await jest.advanceTimersByTimeAsync(PASS_LEASE_MS);
  expect(table.asked).toEqual([`acquire f me ${PASS_LEASE_MS}`, 'renew f 7', 'renew f 7', 'renew f 7', 'release f 7']);
  expect(lease.lost.aborted).toBe(false);
});

it('that another replica has taken over is lost at the next renewal, and not released in its name', async () => {
  const table = leaseTable([() => Promise.resolve(false)]);
  const lease = await acquire(table);
  await jest.advanceTimersByTimeAsync(PASS_LEASE_MS);
  expect(lease.lost.reason).toBeInstanceOf(FenceLostError);
  await lease.release();
  expect(table.asked).not.toContain('release f 7');
  expect(table.reported).toEqual([]);
});

it('outlives renewals that fail, and reports the first of them', async () => {
  const down = () => Promise.reject(new Error('the database is down'));
  const table = leaseTable([down, down]);
  const lease = await acquire(table);
  await jest.advanceTimersByTimeAsync(PASS_LEASE_MS);
  expect(lease.lost.aborted).toBe(false);
  expect(table.reported).toEqual([new Error('the database is down')]);
  await lease.release();
});

it('waits with its release for a renewal that is under way', async () => {
  let answer: (isHeld: boolean) => void = () => undefined;
  const table = leaseTable([() => new Promise<boolean>((resolve) => (answer = resolve))]);
  const lease = await acquire(table);
  await jest.advanceTimersByTimeAsync(PASS_LEASE_MS / 2);
  const released = lease.release();
  await jest.advanceTimersByTimeAsync(0);
  expect(table.asked.at(-1)).toBe('renew f 7');
  answer(true);
  await released;
  expect(table.asked.at(-1)).toBe('release f 7');
});
