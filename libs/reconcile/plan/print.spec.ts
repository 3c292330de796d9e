/** How plans read. contract §11. */
import { type Change, type DetailedChange, type Plan, printPlan } from '../index.ts';

const ORDERS: Change = {
  action: 'create',
  kind: 'webhook',
  slug: 'orders',
  uid: 'wh_1',
  path: 'webhooks/orders.yaml',
  changes: [],
};
const TRIAGE: Change = {
  action: 'update',
  kind: 'automation',
  slug: 'triage',
  uid: 'auto_1',
  path: 'automations/triage/automation.md',
  changes: ['prompt', 'triggers'],
};
const OLD: Change = { ...ORDERS, action: 'delete', slug: 'old', uid: 'wh_2', path: 'webhooks/old.yaml' };
const FACTORY: Change = {
  action: 'update',
  kind: 'factory',
  slug: '',
  uid: 'fac_1',
  path: 'factory.yaml',
  changes: ['name'],
};

describe('printPlan', () => {
  it.each<[Plan, string[], string]>([
    [{ changes: [], heldDeletions: [] }, ['No changes.'], 'nothing to do'],
    [
      { changes: [FACTORY, ORDERS, TRIAGE, OLD], heldDeletions: [] },
      [
        '~ factory (fac_1) factory.yaml: name',
        '+ webhook orders (wh_1) webhooks/orders.yaml',
        '~ automation triage (auto_1) automations/triage/automation.md: prompt, triggers',
        '- webhook old (wh_2) webhooks/old.yaml',
        '1 to create, 2 to update, 1 to delete.',
      ],
      'one of each, in the order of the plan',
    ],
    [
      { changes: [{ ...ORDERS, renamedFrom: 'webhooks/old.yaml' }, OLD], heldDeletions: [] },
      [
        '+ webhook orders (wh_1) webhooks/orders.yaml: renamed from webhooks/old.yaml, its UID and URL are new',
        '- webhook old (wh_2) webhooks/old.yaml',
        '1 to create, 0 to update, 1 to delete.',
      ],
      'a rename says what it costs',
    ],
    [
      {
        changes: [{ ...TRIAGE, action: 'create', changes: [], renamedFrom: 'automations/sort/automation.md' }],
        heldDeletions: [],
      },
      [
        '+ automation triage (auto_1) automations/triage/automation.md: renamed from ' +
          'automations/sort/automation.md, its UID is new',
        '1 to create, 0 to update, 0 to delete.',
      ],
      'an automation has no URL',
    ],
    [
      { changes: [ORDERS], heldDeletions: [OLD, OLD] },
      [
        '+ webhook orders (wh_1) webhooks/orders.yaml',
        '! webhook old (wh_2) webhooks/old.yaml: deletion held back',
        '! webhook old (wh_2) webhooks/old.yaml: deletion held back',
        '1 to create, 0 to update, 0 to delete, 2 deletions held back.',
      ],
      'held deletions are shown',
    ],
    [
      { changes: [], heldDeletions: [OLD] },
      ['! webhook old (wh_2) webhooks/old.yaml: deletion held back', '1 deletion held back; nothing else changes.'],
      'nothing to do but held deletions',
    ],
    [
      { changes: [{ ...ORDERS, path: 'webhooks/\u001b[2J\n::error::\u202e\u2028.yaml' }], heldDeletions: [] },
      [
        '+ webhook orders (wh_1) webhooks/\\u001b[2J\\u000a::error::\\u202e\\u2028.yaml',
        '1 to create, 0 to update, 0 to delete.',
      ],
      'no control or direction character passes',
    ],
  ])('%#: %j', (made, lines) => {
    expect(printPlan(made)).toBe(lines.map((line) => `${line}\n`).join(''));
  });
});

describe('details of a change', () => {
  const NOTHING = { starts: [], stops: [], unreadable: 0, filtersUnreadable: 0, cut: false };
  const lines = (change: DetailedChange, held = false): string[] =>
    printPlan({ changes: held ? [] : [change], heldDeletions: held ? [change] : [] })
      .split('\n')
      .slice(1, -2);

  it('stand below it, aligned, in a fixed order', () => {
    const details = {
      replay: {
        ...NOTHING,
        deliveries: 50,
        before: 12,
        after: 3,
        starts: ['e1'],
        stops: ['e2', 'e3'],
        unreadable: 1,
        filtersUnreadable: 2,
      },
      traffic: {
        deliveries: 60,
        accepted: 55,
        runs: 12,
        failedRuns: 1,
        lastDeliveryAt: '2026-01-02T03:04:05.000Z',
        lastRunAt: '2026-01-02T03:04:06.000Z',
      },
      secret: { before: { name: 'old', version: 2, fingerprint: '0123456789ab' }, after: { name: 'new', version: 0 } },
      ingressUrl: 'https://h/webhooks/w/wh_1/{token}',
      ingressUrlBefore: 'https://h/webhooks/w/wh_1',
    };
    expect(lines({ ...ORDERS, action: 'update', changes: ['authMode', 'secretName'], details })).toEqual([
      '    url      https://h/webhooks/w/wh_1 →',
      '             https://h/webhooks/w/wh_1/{token}',
      '    secret   old (version 2, fingerprint 0123456789ab) → new (no value is set)',
      '    traffic  last 7 days: 60 deliveries (55 accepted), 12 runs (1 failed); last delivery ' +
        '2026-01-02T03:04:05.000Z, last run 2026-01-02T03:04:06.000Z',
      '    replay   would have fired 12 → 3 of the last 50 deliveries',
      '             starts for e1',
      '             stops for e2, e3',
      '             1 stored payload cannot be read',
      '             2 filters cannot be used and match nothing',
    ]);
  });

  it('of what nobody used say so', () => {
    expect(
      lines(
        {
          ...OLD,
          details: {
            traffic: { deliveries: 0, accepted: 0, runs: 0, failedRuns: 0 },
            replay: { ...NOTHING, deliveries: 0, before: 0, after: 0 },
          },
        },
        true,
      ),
    ).toEqual(['    traffic  none in the last 7 days', '    replay   no stored deliveries to ask']);
    expect(lines({ ...ORDERS, details: { replay: { ...NOTHING, deliveries: 1, before: 0, after: 1 } } })).toEqual([
      '    replay   would have fired 0 → 1 of the only stored delivery',
    ]);
    const usedBy = [
      { kind: 'agent_identity', name: 'Ada', uid: 'agt_1' },
      { kind: 'automation', name: 'triage' },
    ] as const;
    expect(lines({ ...ORDERS, details: { usedBy } })).toEqual([
      '    used by  agent identity "Ada" (agt_1), whose runs will fail',
      '    used by  automation "triage", whose runs will fail',
    ]);
    expect(lines({ ...ORDERS, details: { traffic: { runs: 1, failedRuns: 0 } } })).toEqual([
      '    traffic  last 7 days: 1 run',
    ]);
    expect(lines({ ...ORDERS, details: { replay: { ...NOTHING, deliveries: 7, before: 2, after: 0 } } })).toEqual([
      '    replay   would have fired 2 → 0 of all 7 stored deliveries',
    ]);
  });

  it('of a replay that was cut say over how many deliveries it speaks', () => {
    const words = (deliveries: number): string[] =>
      lines({
        ...ORDERS,
        details: { replay: { ...NOTHING, deliveries, before: 0, after: Math.min(deliveries, 1), cut: true } },
      });
    expect(words(7)).toEqual([
      '    replay   would have fired 0 → 1 of the last 7 deliveries; asking older ones is too much work for a plan',
    ]);
    expect(words(1)).toEqual([
      '    replay   would have fired 0 → 1 of the last delivery; asking older ones is too much work for a plan',
    ]);
    expect(words(0)).toEqual(['    replay   too much work for a plan: no stored delivery was asked']);
  });

  it('of a UID that only a server can tell say so, and nothing of them passes that steers a terminal', () => {
    expect(
      printPlan({
        changes: [{ ...ORDERS, uid: '', details: { ingressUrl: 'https://h/\u001b[2J' } }],
        heldDeletions: [],
      }),
    ).toBe(
      '+ webhook orders (assigned when it applies) webhooks/orders.yaml\n    url      https://h/\\u001b[2J\n1 ' +
        'to create, 0 to update, 0 to delete.\n',
    );
  });
});
