/** Rows of a list that somebody reads: as small as they are shown, current, and never moved. */
import type { components } from '#client/generated';
import { newsOf, refreshed, rowOf, type RunPage, type RunRow } from './rows.ts';

describe('rows of a list that is read', () => {
  const row = (run_id: string, state: RunRow['state'] = 'QUEUED'): RunRow => ({
    run_id,
    state,
    title: run_id,
    source: 'API',
    created_at: '',
    updated_at: state,
    started_at: null,
    finished_at: null,
    creator: '',
    config: undefined,
    message: undefined,
  });
  const pages: RunPage[] = [
    { rows: [row('c'), row('b')], next: 'x' },
    { rows: [row('a')], next: undefined },
  ];

  it('change where they are', () => {
    const now = refreshed(pages, [row('d'), row('a', 'FAILED')]);
    expect(now.map(({ rows }) => rows.map(({ run_id: id, state }) => `${id} ${state}`))).toEqual([
      ['c QUEUED', 'b QUEUED'],
      ['a FAILED'],
    ]);
    expect(now[0]).toBe(pages[0]);
  });

  it('are the same when nothing has changed', () => expect(refreshed(pages, [row('c')])).toBe(pages));

  it('tell what would have come', () => {
    expect(newsOf(pages, [row('e'), row('d'), row('c')])).toEqual({ isOther: true, unknown: 2 });
    expect(newsOf(pages, [row('b'), row('c')])).toEqual({ isOther: true, unknown: 0 });
    expect(newsOf(pages, [row('c'), row('b')])).toEqual({ isOther: false, unknown: 0 });
  });
});

describe('rowOf', () => {
  const run = {
    run_id: 'a',
    title: 'A',
    state: 'FAILED',
    source: 'API',
    created_at: 'c',
    updated_at: 'u',
    started_at: null,
    finished_at: null,
    prompt: 'long',
    creator: { display_name: 'Ann' },
    agent_config: { name: 'fast' },
    status_message: { message: 'x'.repeat(300) },
  } as unknown as components['schemas']['RunItem'];

  it('keeps what is shown, a long message cut', () => {
    expect(rowOf(run)).toEqual({
      run_id: 'a',
      title: 'A',
      state: 'FAILED',
      source: 'API',
      created_at: 'c',
      updated_at: 'u',
      started_at: null,
      finished_at: null,
      factory_uid: undefined,
      creator: 'Ann',
      config: 'fast',
      message: 'x'.repeat(200),
    });
  });

  it('says of one that succeeded what it was, not how it went', () =>
    expect(rowOf({ ...run, state: 'SUCCEEDED' }).message).toBeUndefined());
});
