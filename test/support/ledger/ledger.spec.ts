/** The ledger finds what it is there to find. */
import { describe, expect, it } from '@jest/globals';
import { brokenLedger, brokenPages, type Attempt, type Sent, type Stored } from './ledger.ts';

const NOW = 1_700_000_000_000;

interface RecordedEntry {
  attempts: Attempt[];
  stored: Stored;
}

/**
 * Three deliveries that were kept as promised: one accepted, resent and a duplicate; one that starts nothing; one that
 * was refused.
 */
function recorded(): RecordedEntry {
  const attempt = (deliveryId: string, status: number | undefined): Attempt => ({
    webhookUid: 'wh_a',
    deliveryId,
    status,
  });
  const entry = (
    n: number,
    deliveryId: string,
    outcome: string,
    slotAt: number | null = NOW + n,
  ): Stored['entries'][number] => ({
    entry_id: `e${n}`,
    webhook_uid: 'wh_a',
    delivery_id: deliveryId,
    outcome,
    entries: 1,
    slot_at: slotAt,
  });
  return {
    attempts: [
      attempt('both', undefined),
      attempt('both', 202),
      attempt('none', 202),
      attempt('never', 401),
      attempt('never', undefined),
    ],
    stored: {
      entries: [
        entry(1, 'both', 'accepted'),
        entry(2, 'both', 'duplicate'),
        entry(3, 'none', 'accepted'),
        entry(4, 'never', 'rejectedAuth', null),
      ],
      starts: [
        { run_id: 'r1', entry_id: 'e1', automation: 'first' },
        { run_id: 'r2', entry_id: 'e1', automation: 'second' },
      ],
      runs: { runs: [], executions: [], events: [], followups: [] },
    },
  };
}

const STARTS: Readonly<Record<string, readonly string[]>> = { both: ['second', 'first'], none: [] };
const sentOf = (attempts: readonly Attempt[]): Sent => ({ attempts, startsOf: (deliveryId) => STARTS[deliveryId] });

describe('the ledger', () => {
  it('has nothing to say when everything was kept', () => {
    const { attempts, stored } = recorded();
    expect(brokenLedger(sentOf(attempts), stored, { isOver: true })).toEqual([]);
  });

  it.each<{ what: string; change(kept: RecordedEntry): unknown; says: string }>([
    {
      what: 'a 202 is not in the log',
      change: ({ stored }) => stored.entries.splice(2, 1),
      says: 'wh_a/none was answered 202 and is not accepted',
    },
    {
      what: 'a 202 is only a duplicate',
      change: ({ stored }) => (stored.entries[2]!.outcome = 'duplicate'),
      says: 'wh_a/none was answered 202 and is not accepted',
    },
    {
      what: 'a delivery was accepted twice',
      change: ({ stored }) => (stored.entries[1]!.outcome = 'accepted'),
      says: 'wh_a/both was accepted 2 times',
    },
    {
      what: 'a resend that was answered left no entry',
      change: ({ attempts, stored }) => attempts.push({ ...attempts[2]! }) && stored.entries,
      says: 'wh_a/none was answered 202 2 times and has 1 entries',
    },
    {
      what: 'more entries than attempts',
      change: ({ attempts }) => attempts.splice(0, 1),
      says: 'wh_a/both has 2 entries, and 1 attempts',
    },
    {
      what: 'a delivery that was answered 429 is stored',
      change: ({ attempts }) => (attempts[2]!.status = 429),
      says: 'wh_a/none has 1 entries, and 0 attempts',
    },
    {
      what: 'what must be refused was taken',
      change: ({ stored }) => (stored.entries[3]!.outcome = 'accepted'),
      says: 'wh_a/never must be refused and was taken',
    },
    {
      what: 'nobody sent it',
      change: ({ stored }) => (stored.entries[2]!.delivery_id = 'invented'),
      says: 'wh_a/invented is stored and was never sent',
    },
    {
      what: 'a run is missing',
      change: ({ stored }) => stored.starts.pop(),
      says: 'wh_a/both started [first] and not [first, second]',
    },
    {
      what: 'a run was started twice',
      change: ({ stored }) => stored.starts.push({ run_id: 'r3', entry_id: 'e1', automation: 'first' }),
      says: 'wh_a/both started [first, first, second]',
    },
    {
      what: 'a duplicate started a run',
      change: ({ stored }) => (stored.starts[0]!.entry_id = 'e2'),
      says: 'the run r1 was started by e2, which was not accepted',
    },
    {
      what: 'a filter was not heeded',
      change: ({ stored }) => stored.starts.push({ run_id: 'r3', entry_id: 'e3', automation: 'first' }),
      says: 'wh_a/none started [first] and not []',
    },
    {
      what: 'a minute has too many slots',
      change: ({ stored }) => stored.entries.push(...slots(61, 999)),
      says: 'wh_b has more than 60 slots in the minute from',
    },
    {
      what: 'a run has not ended',
      change: ({ stored }) =>
        stored.runs.runs.push({
          run_id: 'r1',
          title: 't',
          state: 'INPROGRESS',
          submitted_prompt: null,
          takeovers: 0,
          epoch: 1,
          lease_owner: null,
        }),
      says: 'is INPROGRESS and not over',
    },
  ])('finds it when $what', ({ change, says }) => {
    const { attempts, stored } = recorded();
    change({ attempts, stored });
    expect(brokenLedger(sentOf(attempts), stored, { isOver: true }).join('\n')).toContain(says);
  });

  it('lets sixty-one slots pass that are a minute apart', () => {
    const { attempts, stored } = recorded();
    stored.entries.push(...slots(61, 1_000));
    expect(brokenLedger(sentOf(attempts), stored, { isOver: false })).toEqual([]);
  });

  it.each([
    { what: 'as stored', shown: ['e4', 'e3', 'e2', 'e1'], broken: 0 },
    { what: 'one twice', shown: ['e4', 'e3', 'e3', 'e1'], broken: 1 },
    { what: 'one not at all', shown: ['e4', 'e3', 'e1'], broken: 1 },
    { what: 'out of order', shown: ['e3', 'e4', 'e2', 'e1'], broken: 1 },
  ])('reads pages: $what', async ({ shown, broken }) => {
    const pages = [shown.slice(0, 2), shown.slice(2)];
    const api = (_method: string, path: string): Promise<Record<string, unknown>> => {
      const isLast = path.includes('cursor=next');
      return Promise.resolve({
        deliveries: (isLast ? pages[1] : pages[0])?.map((id) => ({ entry_id: id })),
        page_info: isLast ? { has_next_page: false } : { has_next_page: true, next_cursor: 'next' },
      });
    };
    expect(await brokenPages({ api }, 'fac_a', 'wh_a', recorded().stored)).toHaveLength(broken);
  });
});

/** Refused bodies take slots too. */
function slots(count: number, gapMs: number): Stored['entries'] {
  return Array.from({ length: count }, (_, index) => ({
    entry_id: `s${index}`,
    webhook_uid: 'wh_b',
    delivery_id: `s${index}`,
    outcome: 'rejectedInvalidJson',
    entries: 1,
    slot_at: NOW + index * gapMs,
  }));
}
