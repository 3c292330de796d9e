/**
 * The form of an automation as requests: what is sent is what was changed, and what cannot be read is said at its
 * place.
 */
import type { Api } from '../../../api/client.ts';
import { draftOf, isSame, membersOf, newTrigger, patchOf, type Draft, type Members } from './draft.ts';

const STORED: Api<'Automation'> = {
  uid: 'auto_1',
  slug: 'a',
  name: 'A',
  enabled: true,
  prompt: 'Look.',
  description: 'd',
  agent: { model_id: 'm' },
  limits: { minutes: 5 },
  version: 3,
  revision: 'dashboard@1',
  file: null,
  created_at: '',
  updated_at: '',
  last_fired_at: null,
  recent_runs: { total: 0, states: {} },
  triggers: [
    { provider: 'inactive', declared_provider: 'slack' },
    { provider: 'webhook', webhook_uids: ['wh_1'], payload: { a: [1] } as never },
    { provider: 'schedule', cron: '@daily' },
  ],
};

function read(draft: Draft): Members {
  const reading = membersOf(draft);
  if (!reading.ok) throw new Error(reading.faults[0]?.message);
  return reading.members;
}

const base = read(draftOf(STORED));

it('says back what was stored, without triggers that nothing can set', () => {
  expect(base).toEqual({
    name: 'A',
    description: 'd',
    enabled: true,
    prompt: 'Look.',
    agent: { model_id: 'm' },
    limits: { minutes: 5 },
    triggers: [
      { provider: 'webhook', webhook_uids: ['wh_1'], payload: { a: [1] } },
      { provider: 'schedule', cron: '@daily' },
    ],
  });
  expect(isSame(draftOf(STORED), draftOf(STORED))).toBe(true);
});

it.each<{ what: string; change: Partial<Draft>; patch: object }>([
  { what: 'nothing', change: {}, patch: {} },
  { what: 'the prompt', change: { prompt: 'Look twice.' }, patch: { prompt: 'Look twice.' } },
  {
    what: 'members that are gone',
    change: { description: '', settings: '{"network": {"allow": []}}' },
    patch: { description: null, agent: null, limits: null, network: { allow: [] } },
  },
  {
    what: 'spaces in JSON, which say nothing',
    change: { settings: '{"agent":{"model_id":"m"},"limits":{"minutes":5}}' },
    patch: {},
  },
  {
    what: 'a trigger without a filter',
    change: { triggers: [newTrigger('webhook', ['wh_2'])] },
    patch: { triggers: [{ provider: 'webhook', webhook_uids: ['wh_2'] }] },
  },
])('sends $what', ({ change, patch }) => {
  expect(patchOf(base, read({ ...draftOf(STORED), ...change }))).toEqual(patch);
});

it('names every text that is no JSON, by the place that the service would name', () => {
  const draft = draftOf(STORED);
  const broken = draft.triggers.map((trigger) =>
    trigger.provider === 'webhook' ? { ...trigger, filter: '{' } : trigger,
  );
  expect(membersOf({ ...draft, triggers: broken, settings: '{"agnt": 1}' })).toEqual({
    ok: false,
    faults: [
      { pointer: '/triggers/0/payload', message: expect.stringMatching(/^This is no JSON/) },
      { pointer: '/settings', message: expect.stringContaining('"agnt"') },
    ],
  });
  expect(membersOf({ ...draft, settings: '[]' })).toMatchObject({ ok: false, faults: [{ pointer: '/settings' }] });
});
