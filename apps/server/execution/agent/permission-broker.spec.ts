/** The broker of an agent's permission requests: what is waited for, for how long, and how many at a time. */
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk';
import { allowing } from '#agents';
import type { RunEvent } from '../../store/runs/run-log.ts';
import type { Permission, PermissionStore, Question, PermissionAnswer } from '../../store/runs/permissions.ts';
import { PermissionBroker, type PermissionBrokerDeps } from './permission-broker.ts';

const CLAIM = { runId: 'run', executionId: 'execution', epoch: 1 };
const OPTIONS: RequestPermissionRequest['options'] = [
  { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  { optionId: 'n', name: 'No', kind: 'reject_once' },
];
const request = (title = 'do it', options = OPTIONS): RequestPermissionRequest => ({
  sessionId: 's',
  toolCall: { toolCallId: 'c', title },
  options,
});

/** The table of questions, in memory. */
function tableOf() {
  const rows = new Map<string, Permission>();
  const settle = (permissionId: string, { option, principalUid }: PermissionAnswer): Permission => {
    const now = { ...(rows.get(permissionId) as Permission) };
    if (now.answeredAtMs !== undefined) return now;
    const settled = { ...now, answeredAtMs: 1, optionId: option?.optionId, principalUid };
    rows.set(permissionId, settled);
    return settled;
  };
  const store = {
    ask: async (_claim: unknown, permissionId: string, question: Question) => {
      rows.set(permissionId, { ...CLAIM, permissionId, askedAtMs: 0, question });
      return true;
    },
    answered: async (ids: readonly string[]) =>
      ids.flatMap((id) => rows.get(id) ?? []).filter(({ answeredAtMs }) => answeredAtMs !== undefined),
    close: async (_claim: unknown, permissionId: string, settlement: PermissionAnswer) =>
      settle(permissionId, settlement),
  };
  return { rows, settle, store };
}

function brokerWith(more: Partial<PermissionBrokerDeps> = {}) {
  const table = tableOf();
  const events: RunEvent[] = [];
  let ids = 0;
  const broker = new PermissionBroker({
    store: table.store as unknown as PermissionStore,
    claim: CLAIM,
    situation: { tier: 'standard', isConfined: true, interactive: true, idleMinutes: 10 },
    secretValues: [],
    nowMs: () => 0,
    newId: () => `p${(ids += 1)}`,
    onEvent: (event) => void events.push(event),
    flush: () => Promise.resolve(),
    retryWhileOwned: (write) => write(),
    publish: () => undefined,
    slot: { park: () => undefined, resume: () => Promise.resolve() },
    onFault: (error) => {
      throw error;
    },
    ...more,
  });
  return { broker, table, texts: () => events.map(({ body }) => (JSON.parse(body) as { text: string }).text) };
}
let test = new AbortController();
afterEach(() => {
  test.abort(); // what still waits at the end of a test waits for nobody
  test = new AbortController();
});
const settledSoon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

it('the place of the run is given back while it waits, and had again before the agent hears the answer', async () => {
  const steps: string[] = [];
  let go = (): void => undefined;
  const slot = {
    park: () => void steps.push('parked'),
    resume: () => new Promise<void>((resolve) => (go = () => (steps.push('resumed'), resolve()))),
  };
  const { broker, table } = brokerWith({ slot });
  const decided = broker.decide(request(), test.signal).then((answer) => steps.push(`answered ${answer}`));
  await settledSoon();
  expect(steps).toEqual(['parked']);
  table.settle('p1', { option: { optionId: 'n', name: 'No', kind: 'reject_once' }, text: 'no' });
  broker.poll();
  await settledSoon();
  expect(steps).toEqual(['parked']);
  go();
  await decided;
  expect(steps).toEqual(['parked', 'resumed', 'answered n']);
});

it('nobody answers in time: it is refused', async () => {
  const { broker, table } = brokerWith({
    situation: { tier: 'standard', isConfined: true, interactive: true, idleMinutes: 0.001 },
  });
  expect(await broker.decide(request(), test.signal)).toBe('n');
  expect([...table.rows.values()]).toEqual([expect.objectContaining({ optionId: 'n', principalUid: undefined })]);
  expect(await broker.decide(request('again', [OPTIONS[0] as (typeof OPTIONS)[number]]), test.signal)).toBeUndefined();
});

it('an answer of somebody who was faster than the time-out counts', async () => {
  const { broker, table } = brokerWith({
    situation: { tier: 'standard', isConfined: true, interactive: true, idleMinutes: 0.001 },
  });
  const decided = broker.decide(request(), test.signal);
  await Promise.resolve();
  table.settle('p1', {
    option: allowing(table.rows.get('p1')?.question.options ?? []),
    principalUid: 'user',
    text: '',
  });
  expect(await decided).toBe('y');
});

it('an answer is heard when somebody looks, once', async () => {
  const { broker, table } = brokerWith();
  const [first, second] = [broker.decide(request('a'), test.signal), broker.decide(request('b'), test.signal)];
  await settledSoon();
  table.settle('p2', { option: table.rows.get('p2')?.question.options[1], principalUid: 'user', text: '' });
  broker.poll();
  expect(await second).toBe('n');
  table.settle('p1', { option: table.rows.get('p1')?.question.options[0], principalUid: 'user', text: '' });
  broker.poll();
  expect(await first).toBe('y');
});

it('an agent that does not wait any more leaves no open question', async () => {
  const { broker, table } = brokerWith();
  const leaving = new AbortController();
  const decided = broker.decide(request(), leaving.signal);
  await settledSoon();
  leaving.abort();
  expect(await decided).toBeUndefined();
  await settledSoon();
  expect(table.rows.get('p1')).toMatchObject({ answeredAtMs: 1, optionId: undefined });
  expect(await broker.decide(request(), AbortSignal.abort())).toBeUndefined();
});

it('a run that is no longer ours asks nobody', async () => {
  const { broker } = brokerWith({ retryWhileOwned: () => Promise.resolve(undefined) });
  expect(await broker.decide(request(), test.signal)).toBeUndefined();
});

it('people have twenty questions before them at most, and an agent asks a thousand times at most', async () => {
  const { broker, table, texts } = brokerWith();
  const open = Array.from({ length: 20 }, (_, number) =>
    broker.decide(request(String(number)), new AbortController().signal),
  );
  await settledSoon();
  expect(await broker.decide(request('one more'), test.signal)).toBe('n');
  expect(texts()).toEqual([expect.stringContaining('20 questions wait')]);
  for (const permissionId of table.rows.keys()) table.settle(permissionId, { text: '' });
  broker.poll();
  expect(await Promise.all(open)).toEqual(Array.from({ length: 20 }, () => undefined));

  const flooded = brokerWith({
    situation: { tier: 'standard', isConfined: true, interactive: false, idleMinutes: 10 },
  });
  for (let number = 0; number < 1_000; number += 1)
    expect(await flooded.broker.decide(request(), test.signal)).toBe('y');
  for (let number = 0; number < 100; number += 1)
    expect(await flooded.broker.decide(request(), test.signal)).toBeUndefined();
  expect(flooded.texts()).toHaveLength(1_001);
});

it('a request that names only its call is shown by the title of that', async () => {
  const { broker, table } = brokerWith();
  broker.noteTitle({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Edit main.ts' });
  void broker.decide({ sessionId: 's', toolCall: { toolCallId: 'c' }, options: OPTIONS }, test.signal);
  void broker.decide({ sessionId: 's', toolCall: { toolCallId: 'other' }, options: OPTIONS }, test.signal);
  await settledSoon();
  expect([...table.rows.values()].map(({ question }) => question.title)).toEqual(['Edit main.ts', 'a tool']);
});

it('remembers no call by an ID that is none, offers no answer under one, and shows a kind as the rest', async () => {
  const { broker, table } = brokerWith({ secretValues: ['hunter2-value'] });
  const long = 'x'.repeat(1_001);
  broker.noteTitle({ sessionUpdate: 'tool_call', toolCallId: long, title: 'kept' });
  const kind = `hunter2-value${long}` as 'edit';
  void broker.decide(
    {
      sessionId: 's',
      toolCall: { toolCallId: long, kind },
      options: [...OPTIONS, { optionId: long, name: 'Long', kind: 'allow_once' }],
    },
    test.signal,
  );
  await settledSoon();
  const question = [...table.rows.values()][0]?.question;
  expect([question?.title, question?.options.map(({ name }) => name), (question?.toolKind ?? '').length < 400]).toEqual(
    ['a tool', ['Yes', 'No'], true],
  );
  expect(question?.toolKind).toMatch(/^\[redacted\]x/);
});

it('nobody looks at requests beyond the thousandth and the note about it', async () => {
  const { broker } = brokerWith({
    situation: { tier: 'standard', isConfined: true, interactive: false, idleMinutes: 10 },
  });
  let looks = 0;
  const watched = (): RequestPermissionRequest => ({
    sessionId: 's',
    options: OPTIONS,
    get toolCall() {
      looks += 1;
      return { toolCallId: 'c' };
    },
  });
  for (let number = 0; number < 1_001; number += 1) await broker.decide(watched(), test.signal);
  const before = looks;
  for (let number = 0; number < 10; number += 1) expect(await broker.decide(watched(), test.signal)).toBeUndefined();
  expect(looks).toBe(before);
});
