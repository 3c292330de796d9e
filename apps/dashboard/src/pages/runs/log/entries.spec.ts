/** What a log says, as people read it. */
import { entriesOf, latestPlan, type RunEvent } from './entries.ts';

let seq = 0;
const event = (event_type: string, payload: RunEvent['payload']): RunEvent => ({
  seq: ++seq,
  event_type,
  payload,
  occurred_at: '2026-01-01T00:00:00Z',
  run_id: 'r',
});
const said = (text: string, kind = 'message'): RunEvent => event(kind, { text });

describe('entriesOf', () => {
  it('joins pieces of one message, and not those of another kind', () => {
    const entries = entriesOf([said('He'), said('llo'), said('hm', 'thought'), said(' again')]);
    expect(entries.map((entry) => entry.kind === 'text' && [entry.type, entry.text])).toEqual([
      ['message', 'Hello'],
      ['thought', 'hm'],
      ['message', ' again'],
    ]);
  });

  it('begins another piece before one grows without end', () => {
    const entries = entriesOf(Array.from({ length: 5 }, () => said('x'.repeat(2_000), 'stdout')));
    expect(entries.map((entry) => entry.kind === 'text' && entry.text.length)).toEqual([4_000, 4_000, 2_000]);
  });

  it('shows a tool call once, with what came of it, where it began', () => {
    const entries = entriesOf([
      event('tool_call', { tool_call_id: 'a', title: 'ls', tool_kind: 'execute', status: 'pending', input: '{}' }),
      said('x'),
      event('tool_call_update', { tool_call_id: 'a', status: 'completed', output: 'files' }),
      event('tool_call_update', { tool_call_id: 'b', status: 'failed' }),
    ]);
    expect(entries).toMatchObject([
      { kind: 'tool', title: 'ls', status: 'completed', input: '{}', output: 'files' },
      { kind: 'text' },
      { kind: 'tool', status: 'failed' },
    ]);
  });

  it('leaves usage out, and keeps what it does not know as a status', () => {
    expect(entriesOf([event('usage', { tokens: 1 }), event('new_kind', { text: 'what' })])).toMatchObject([
      { kind: 'status', text: 'what' },
    ]);
  });

  it('has the plan as it stands', () => {
    const events = [
      event('plan', { entries: [{ content: 'a', status: 'pending' }] }),
      event('plan', { entries: [{ content: 'a', status: 'completed' }] }),
    ];
    expect(entriesOf(events)).toHaveLength(1);
    expect(latestPlan(events)).toEqual([{ content: 'a', status: 'completed' }]);
  });
});
