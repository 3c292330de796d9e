/** What a run has used is stored with its log, under the epoch of the execution that used it. contract §3.5. */
import { NEW_METER, readMeter, sessionOpened, addUsage } from '#agents';
import { onEachBackend, type Stores } from './backends.ts';
import { claimedRun, claimRun } from './seeds.ts';

await onEachBackend('what a run has used', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });
  const event = { kind: 'usage', atMs: 1, body: '{}' };
  const columnsOf = async (runId: string): Promise<unknown> => {
    const { tokens, cost_micros: micros, cost_currency: currency } = (await stores.runs.find(runId)) ?? {};
    return [tokens, micros, currency];
  };

  it('is written with its events or alone, read by the next execution, and no word of a lost one', async () => {
    const claim = await claimedRun(stores, {}, true);
    expect(await stores.runs.usage(claim.runId)).toBeUndefined();
    const meter = addUsage(sessionOpened(NEW_METER, 's'), {
      sessionTokens: 3_000_000_000,
      cost: { amount: 4_000.5, currency: 'EUR' },
    });
    expect(await stores.runs.append(claim, [event], meter)).toBeGreaterThan(0);
    expect(await columnsOf(claim.runId)).toEqual([3_000_000_000, 4_000_500_000, 'EUR']);
    await stores.runs.reclaim(claim.runId, claim.epoch, 'requeue');
    const next = await claimRun(stores, claim.runId);
    const stored = await stores.runs.usage(claim.runId);
    expect(readMeter(stored)).toEqual(meter);
    const grown = addUsage(sessionOpened(readMeter(stored), 's'), { sessionTokens: 3_000_000_001 });
    expect(await stores.runs.append(next, [], grown)).toBeGreaterThan(0);
    expect(await columnsOf(claim.runId)).toEqual([3_000_000_001, 4_000_500_000, 'EUR']);
    expect(await stores.runs.append(claim, [event], addUsage(meter, { sessionTokens: 9e9 }))).toBeUndefined();
    await stores.runs.finish(next, { state: 'SUCCEEDED', message: 'done' });
    expect(await columnsOf(claim.runId)).toEqual([3_000_000_001, 4_000_500_000, 'EUR']);
  });
});
