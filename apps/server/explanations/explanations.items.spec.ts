/**
 * What is unchanged, changed, deleted or not there yet, whichever clock was ahead; and which trigger is shown as the
 * one that decided.
 */
import type { AutomationDefinition } from '#definitions';
import type { DefinitionStatus } from '../store/reports/explanations.ts';
import { decisionsOf, scheduleTrigger, toDefinition, wasThere, webhookTrigger } from './explanations.items.ts';

const DECIDED = { atMs: 1_000, revision: 'r1' };
const now = (more: Partial<DefinitionStatus>): DefinitionStatus => ({
  uid: 'auto_1',
  slug: 'a',
  path: 'automations/a/automation.md',
  revision: 'r0',
  createdAtMs: 1,
  updatedAtMs: 1,
  ...more,
});

it.each<[why: string, standing: DefinitionStatus, expected: string, there: boolean]>([
  ['written long before', now({}), 'unchanged', true],
  [
    'written by the revision that decided, by a clock that was ahead',
    now({ revision: 'r1', updatedAtMs: 1_005 }),
    'unchanged',
    true,
  ],
  [
    'made by the revision that decided, by a clock that was ahead',
    now({ revision: 'r1', createdAtMs: 1_005, updatedAtMs: 1_005 }),
    'unchanged',
    true,
  ],
  ['written again by a later revision', now({ revision: 'r2', updatedAtMs: 2_000 }), 'changed', true],
  ['made later', now({ revision: 'r2', createdAtMs: 2_000, updatedAtMs: 2_000 }), 'changed', false],
  ['deleted later', now({ revision: 'r2', deletedAtMs: 2_000 }), 'deleted', true],
  ['deleted before', now({ deletedAtMs: 900 }), 'deleted', false],
])('%s: %j is %s', (_why, standing, expected, there) => {
  expect([toDefinition(standing, DECIDED).standing, wasThere(standing, DECIDED)]).toEqual([expected, there]);
});

it('names no file for what is managed over the API', () => {
  expect(toDefinition(now({ path: '' }), DECIDED)).toMatchObject({ file: null, changed_at: null });
});

const automation = (...triggers: AutomationDefinition['triggers']): AutomationDefinition => ({
  name: 'a',
  path: 'p',
  enabled: true,
  prompt: 'x',
  agent: {},
  triggers,
});
const on = (webhook: string, payload?: { [key: string]: string[] }): AutomationDefinition['triggers'][number] => ({
  provider: 'webhook',
  webhookUids: [webhook],
  payload,
});

describe('the trigger that decided', () => {
  const two = automation(on('wh_2'), on('wh_1', { kind: ['old'] }), on('wh_1', { kind: ['new'] }));
  it.each<[why: string, found: unknown, expected: unknown]>([
    [
      'the one that matches the payload',
      webhookTrigger(two, 'wh_1', 'fired', { kind: 'new' }, true),
      { position: 3, as_decided: true },
    ],
    [
      'the first that names the webhook, where none matched',
      webhookTrigger(two, 'wh_1', 'filter', { kind: 'x' }, true),
      { position: 2, as_decided: true },
    ],
    [
      'perhaps the first, where the payload is gone',
      webhookTrigger(two, 'wh_1', 'fired', undefined, true),
      { position: 2, as_decided: false },
    ],
    [
      'perhaps the first, where the automation has changed',
      webhookTrigger(two, 'wh_1', 'fired', { kind: 'new' }, false),
      { position: 2, as_decided: false },
    ],
    [
      'the only one, also without a payload',
      webhookTrigger(automation(on('wh_1')), 'wh_1', 'fired', undefined, true),
      { position: 1, as_decided: true },
    ],
    [
      'the schedule of that name and expression',
      scheduleTrigger(
        automation(
          on('wh_1'),
          { provider: 'schedule', cron: '@daily' },
          { provider: 'schedule', name: 'n', cron: '@daily' },
        ),
        { name: 'n', cron: '@daily' },
        true,
      ),
      { position: 3, cron: '@daily' },
    ],
  ])('is %s', (_why, found, expected) => {
    expect(found).toMatchObject(expected as object);
  });

  it.each([
    ['names another webhook now', webhookTrigger(automation(on('wh_2')), 'wh_1', 'fired', {}, false)],
    [
      'was not asked, because the automation was disabled',
      webhookTrigger(automation(on('wh_1')), 'wh_1', 'disabled', {}, true),
    ],
    [
      'is another schedule now',
      scheduleTrigger(automation({ provider: 'schedule', cron: '@daily' }), { name: null, cron: '@hourly' }, false),
    ],
  ])('is not told where it %s', (_why, found) => {
    expect(found).toBeNull();
  });
});

it('reads what the log holds, and nothing where it holds nothing', () => {
  expect(decisionsOf(null)).toEqual([]);
  expect(decisionsOf('{}')).toEqual([]);
  expect(decisionsOf('')).toEqual([]);
  expect(decisionsOf('a=r b=s')).toEqual([
    { uid: 'a', result: 'fired', runId: 'r' },
    { uid: 'b', result: 'fired', runId: 's' },
  ]);
  expect(
    decisionsOf(
      '{"started":[{"automation_id":"a","run_id":"r"}],"skipped":[{"automation_id":"b","reason":"filter","faile' +
        'd_pointer":"/x","operator":"in"}]}',
    ),
  ).toEqual([
    { uid: 'a', result: 'fired', runId: 'r' },
    { uid: 'b', result: 'filter', failedPointer: '/x', operator: 'in' },
  ]);
});
