/** What of a factory is judged again while its source cannot be read, and whether that brought anything. */
import { applied, blockedByGrowth, hasProgressed, unreadable, waitingRevision, type Change } from '../index.ts';

const CONDITION = { ending: 'applied', sinceMs: 0, checkedMs: 0 } as const;
const APPLIED = { revisionSeen: 'r2', revisionApplied: 'r2', condition: CONDITION };
const HELD = { ...APPLIED, condition: { ...CONDITION, heldDigest: 'sha256:d' } };
const CHANGE = { action: 'update', kind: 'webhook', slug: 'a', uid: 'wh_a', path: 'webhooks/a.yaml' } as Change;
const growthHeld = (digest?: string) => blockedByGrowth('r2', [], { message: '', digest, held: [] });

it.each<[string | undefined, Parameters<typeof waitingRevision>[0], string]>([
  [undefined, { condition: CONDITION }, 'nothing was ever seen'],
  ['r2', { ...APPLIED, revisionApplied: 'r1' }, 'it was seen, and did not apply'],
  ['r1', { revisionSeen: 'r1', condition: CONDITION }, 'none was ever applied'],
  [undefined, APPLIED, 'all of it applied'],
  [undefined, { ...APPLIED, howApplied: { applyMode: 'perFile' } }, 'all of it applied, file by file'],
  ['r2', { ...APPLIED, howApplied: { applyMode: 'perFile', inPart: true } }, 'some of it applied'],
  ['r2', HELD, 'deletions of it are called held'],
])('%s waits where %j (%s)', (revision, factory) => {
  expect(waitingRevision(factory)).toBe(revision);
});

it.each<[boolean, Parameters<typeof hasProgressed>[0], Parameters<typeof hasProgressed>[1], string]>([
  [false, { ...APPLIED, revisionApplied: 'r1' }, unreadable({ reason: 'internal', message: '' }), 'it did not apply'],
  [true, { ...APPLIED, revisionApplied: 'r1' }, applied('r2', [], []), 'it applied, and changes nothing'],
  [false, APPLIED, applied('r2', [], []), 'it had applied'],
  [true, APPLIED, applied('r2', [CHANGE], []), 'more of it applied'],
  [true, APPLIED, growthHeld('sha256:g'), 'growth waits now'],
  [false, HELD, growthHeld('sha256:d'), 'the same waits'],
  [false, APPLIED, growthHeld(), 'it waits for another server'],
  [false, HELD, applied('r2', [], [], [CHANGE], 'sha256:d'), 'the same is held'],
  [true, HELD, applied('r2', [], [], [CHANGE], 'sha256:e'), 'something else is held'],
  [true, HELD, applied('r2', [], []), 'nothing is held any more'],
  [false, HELD, applied('r2', [], [], [CHANGE]), 'it is held for another reason for now'],
])('has progressed: %s, of %j by %j (%s)', (progressed, factory, ending) => {
  expect(hasProgressed(factory, ending)).toBe(progressed);
});
