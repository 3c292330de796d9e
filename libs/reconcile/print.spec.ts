/** How plans read. contract 11. */
import { printPlan } from './index.ts';
import type { Change, Plan } from './index.ts';

const ORDERS: Change = { action: 'create', kind: 'webhook', slug: 'orders', uid: 'wh_1', path: 'webhooks/orders.yaml', changes: [] };
const TRIAGE: Change = {
  action: 'update',
  kind: 'automation',
  slug: 'triage',
  uid: 'auto_1',
  path: 'automations/triage/automation.md',
  changes: ['prompt', 'triggers'],
};
const OLD: Change = { ...ORDERS, action: 'delete', slug: 'old', uid: 'wh_2', path: 'webhooks/old.yaml' };
const FACTORY: Change = { action: 'update', kind: 'factory', slug: '', uid: 'fac_1', path: 'factory.yaml', changes: ['name'] };

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
      { changes: [{ ...TRIAGE, action: 'create', changes: [], renamedFrom: 'automations/sort/automation.md' }], heldDeletions: [] },
      [
        '+ automation triage (auto_1) automations/triage/automation.md: renamed from automations/sort/automation.md, its UID is new',
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
      ['! webhook old (wh_2) webhooks/old.yaml: deletion held back', 'No changes. 1 deletion held back.'],
      'nothing to do but held deletions',
    ],
    [
      { changes: [{ ...ORDERS, path: 'webhooks/\u001b[2J\n::error::\u202e\u2028.yaml' }], heldDeletions: [] },
      ['+ webhook orders (wh_1) webhooks/\\u001b[2J\\u000a::error::\\u202e\\u2028.yaml', '1 to create, 0 to update, 0 to delete.'],
      'no control or direction character passes',
    ],
  ])('%#: %j', (made, lines) => {
    expect(printPlan(made)).toBe(lines.map((line) => `${line}\n`).join(''));
  });
});
