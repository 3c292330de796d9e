/** Which traces are kept, what names them, and which words of a sender are read. contract §1.9 (Traces). */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '#runs';
import { NO_SPAN, readTraceparent, spanIdOf, Traces, type SpanAttributes, type SpanStart } from './traces.ts';

const UUID = '01900000-0000-7000-8000-0123456789ab';

function recording() {
  const ended: (SpanStart & { ended: SpanAttributes; isFailed: boolean })[] = [];
  let spans = 0;
  const backend = {
    start: (start: SpanStart) => ({
      spanId: start.spanId ?? `span-${(spans += 1)}`,
      end: (attributes: SpanAttributes, isFailed: boolean) =>
        void ended.push({ ...start, ended: attributes, isFailed }),
    }),
    stop: async () => undefined,
  };
  return { ended, backend };
}

describe('traces', () => {
  it('are named by what they are of', () => {
    const { backend } = recording();
    expect(new Traces(backend).traceOf(UUID)).toBe('019000000000700080000123456789ab');
    expect(new Traces(backend).traceOf(undefined)).toBeUndefined();
    expect(new Traces().traceOf(UUID)).toBeUndefined();
    expect(spanIdOf(UUID)).toMatch(/^[0-9a-f]{16}$/);
    expect(spanIdOf(UUID)).not.toBe(spanIdOf(`${UUID} 1`));
  });

  it('are chosen by their IDs: the same in every process, and as many as are asked for', () => {
    const { backend } = recording();
    const uuids = Array.from({ length: 4_000 }, () => uuidv7(Date.now(), randomBytes(10)));
    const chosen = (share: number): string[] => uuids.filter((uuid) => new Traces(backend, share).traceOf(uuid));
    expect(chosen(0)).toEqual([]);
    expect(chosen(1)).toEqual(uuids);
    expect(chosen(0.1)).toEqual(chosen(0.1));
    expect(chosen(0.1).length).toBeGreaterThan(280);
    expect(chosen(0.1).length).toBeLessThan(520);
    const more = new Set(chosen(0.5));
    expect(chosen(0.1).every((uuid) => more.has(uuid))).toBe(true);
  });

  it('have parts, which fail with what fails in them, and end once', async () => {
    const { ended, backend } = recording();
    const span = new Traces(backend).begin(UUID, { name: 'whole', spanId: 'aa' });
    expect(await span.during('good', async () => 7)).toBe(7);
    await expect(span.during('bad', async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    span.begin('deep').begin('deeper', { of: 1 }).end({ more: true });
    span.end({ state: 'x' });
    span.end({ state: 'y' }, true);
    expect(ended.map(({ name, parentId, isFailed }) => [name, parentId, isFailed])).toEqual([
      ['good', 'aa', false],
      ['bad', 'aa', true],
      ['deeper', 'span-3', false],
      ['whole', undefined, false],
    ]);
    expect(new Set(ended.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('that nobody collects let work through', async () => {
    expect(await new Traces().begin(UUID, { name: 'x' }).during('y', async () => 1)).toBe(1);
    expect(NO_SPAN.begin('x').traceId).toBeUndefined();
  });
});

describe('a traceparent', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const spanId = '00f067aa0ba902b7';

  it.each([
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, true],
    [`cc-${traceId}-${spanId}-01-what-the-future-will-be-like`, true],
    [`ff-${traceId}-${spanId}-01`, false],
    [`00-${'0'.repeat(32)}-${spanId}-01`, false],
    [`00-${traceId}-${'0'.repeat(16)}-01`, false],
    [`00-${traceId.toUpperCase()}-${spanId}-01`, false],
    [`00-${traceId}-${spanId}`, false],
    [`${' '.repeat(300)}00-${traceId}-${spanId}-01`, false],
    ['x', false],
    ['', false],
    [undefined, false],
  ])('%j is read: %s', (text, isRead) =>
    expect(readTraceparent(text)).toEqual(isRead ? { traceId, spanId } : undefined),
  );
});
