/** From a plan to what is written. */
import type { Definitions } from '#definitions';
import type { Actual, Change } from '#reconcile';
import type { Factory } from '../store/factories/factory-rows.ts';
import { toApplication } from './application.ts';

const factory = { uid: 'fac_a', slug: 'a' } as Factory;
const webhook = {
  name: 'orders',
  path: 'webhooks/orders.yaml',
  authMode: 'token',
  secretName: 's',
  enabled: true,
} as Definitions['webhooks'][number];
const desired = {
  factory: { applyMode: 'perFile', name: 'New' },
  webhooks: [webhook],
  automations: [],
  environments: [],
  skills: [],
} as unknown as Definitions;
const before: Actual = { factory: { applyMode: 'atomic', name: 'Old' }, objects: [] };
const change = (action: Change['action'], kind: Change['kind'], slug: string): Change => ({
  action,
  kind,
  slug,
  uid: `${kind}_${slug}`,
  path: `${slug}.yaml`,
  changes: [],
});

const TEXTS = new Map([
  ['webhooks/orders.yaml', 'secretName: s # ours\n'],
  ['webhooks/held.yaml', 'secretName: t\n'],
]);
const made = (changes: Change[], actual = before) =>
  toApplication(
    factory,
    7,
    'main@sha1:1',
    { changes, heldDeletions: [change('delete', 'webhook', 'held')] },
    desired,
    actual,
    { texts: TEXTS, skillFiles: new Map() },
    new Map([...TEXTS.keys()].map((path) => [path, `blob of ${path}`])),
  );

describe('toApplication', () => {
  it('carries factory, fence and revision', () =>
    expect(made([])).toMatchObject({ factoryUid: 'fac_a', fence: 7, revision: 'main@sha1:1' }));

  it('writes what is created or updated with its definition, and deletes by UID', () => {
    const { upserts, deletions } = made([change('create', 'webhook', 'orders'), change('delete', 'automation', 'old')]);
    expect(upserts).toEqual([
      { kind: 'webhook', uid: 'webhook_orders', slug: 'orders', path: 'orders.yaml', definition: webhook },
    ]);
    expect(deletions).toEqual([{ kind: 'automation', uid: 'automation_old' }]);
  });

  it('keeps the text of files that apply, changed or not, and of no others', () => {
    expect(made([]).texts).toEqual(new Map([['webhooks/orders.yaml', 'secretName: s # ours\n']]));
    expect(made([]).blobs).toEqual(new Map([['webhooks/orders.yaml', 'blob of webhooks/orders.yaml']]));
  });

  it('never deletes what is held', () => expect(made([]).deletions).toEqual([]));

  it("keeps the factory's own settings unless the plan changes them", () => {
    expect(made([]).factory).toEqual(before.factory);
    expect(made([change('update', 'factory', '')]).factory).toEqual(desired.factory);
    expect(made([], { objects: [] }).factory).toEqual(desired.factory); // the first apply
  });

  it('stops at a plan that is of another tree', () =>
    expect(() => made([change('create', 'webhook', 'nowhere')])).toThrow('nowhere'));
});
