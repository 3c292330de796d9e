/** What passes for an answer: required members and JSON types are checked, everything else is kept. */
import { findMisfit } from '../src/shapes.ts';

const RUN = {
  run_id: 'r',
  task_id: 'r',
  root_run_id: 'r',
  title: 't',
  state: 'QUEUED',
  prompt: 'p',
  submitted_prompt: 'p',
  created_at: '2026-01-31T10:00:00.000Z',
  updated_at: '2026-01-31T10:00:00+02:00',
  started_at: null,
  finished_at: null,
  source: 'API',
  creator: { type: 'USER', uid: 'u', display_name: 'n', email: null },
  executor: { type: 'USER', uid: 'u', display_name: 'n', email: null },
  agent_config: {},
  mode: 'normal',
  interactive: false,
  metadata: {},
  is_sandbox_running: false,
  is_run_type_cancellable: true,
  execution_location: 'REMOTE',
};

describe('shapes of answers', () => {
  it.each([
    ['as documented', {}],
    ['with members that are not known', { colour: 'red', nested: { any: [1] } }],
    ['with listed values that are not known', { state: 'DREAMING', source: 'A_NEW_ONE', mode: 'fast' }],
    ['with constraints that are not met', { title: '', run_time: 'an hour', run_id: 'no UUID' }],
    ['with a member named like one of Object', { metadata: { constructor: 'x', toString: 'y' } }],
  ])('take a run %s', (_, change) => {
    expect(findMisfit('RunItem', { ...RUN, ...change })).toBeUndefined();
  });

  it.each([
    ['a member of another type', { title: 7 }, { pointer: '/title', expected: 'string', found: 'a number' }],
    ['a null where there is none', { title: null }, { pointer: '/title', expected: 'string', found: 'null' }],
    [
      'no null, and no other type, where there may be one',
      { started_at: 7 },
      { pointer: '/started_at', expected: 'date-time or null', found: 'a number' },
    ],
    [
      'an optional member of another type',
      { session_link: {} },
      { pointer: '/session_link', expected: 'string', found: 'an object' },
    ],
    [
      'a date that is none',
      { created_at: '2026-02-30T10:00:00Z' },
      { pointer: '/created_at', expected: 'date-time', found: 'a string' },
    ],
    [
      'a date without a zone',
      { created_at: '2026-02-20T10:00:00' },
      { pointer: '/created_at', expected: 'date-time', found: 'a string' },
    ],
    [
      'an object that is a list',
      { agent_config: [] },
      { pointer: '/agent_config', expected: 'object', found: 'a list' },
    ],
    [
      'an item of a list',
      { artifacts: [{}] },
      { pointer: '/artifacts/0/artifact_uid', expected: 'string', found: 'nothing' },
    ],
    [
      'an entry of a map, its name as a pointer has it',
      { metadata: { 'a/b~c': 1 } },
      { pointer: '/metadata/a~1b~0c', expected: 'string', found: 'a number' },
    ],
    [
      'an integer that is none',
      { request_usage: { inference_cost: 0.5, compute_cost: 1 }, agent_config: { idle_timeout_minutes: 1.5 } },
      { pointer: '/agent_config/idle_timeout_minutes', expected: 'integer', found: 'a number' },
    ],
  ])('refuse %s', (_, change, misfit) => {
    expect(findMisfit('RunItem', { ...RUN, ...change })).toEqual(misfit);
  });

  it.each([[null], [[]], ['text'], [7]])('refuse %j in place of an object', (value) => {
    expect(findMisfit('RunItem', value)).toMatchObject({ pointer: '', expected: 'object' });
  });

  it('do not take inherited members for members', () => {
    expect(findMisfit('RunItem', Object.create(RUN))).toMatchObject({ pointer: '/run_id', found: 'nothing' });
  });

  it('take a bare string', () => {
    expect(findMisfit('RunId', 'r')).toBeUndefined();
    expect(findMisfit('RunId', { run_id: 'r' })).toEqual({ pointer: '', expected: 'string', found: 'an object' });
  });

  it('check every part of what extends something else', () => {
    expect(findMisfit('ApiKeyCreated', { key: 'k' })).toMatchObject({ pointer: '/id' });
  });

  it('say what is wrong inside the alternative that was meant', () => {
    expect(findMisfit('FactoryStatus', { last_sync: 'no' })).toBeDefined();
  });
});
