/** Pressing again does the same thing once; meaning another thing, or the same thing again, is another request. */
import { ProblemError } from '../../api/problems.ts';
import { idempotencyKeys } from './idempotency-keys.ts';

let made = 0;
const begun = () => idempotencyKeys(() => `key-${(made += 1)}`);
const answered = (status: number): ProblemError => ProblemError.of(new Response(null, { status }), undefined);

it.each<{ after: string; fault?: unknown; isSame: boolean }>([
  { after: 'it was done', fault: undefined, isSame: false },
  { after: 'a refusal', fault: answered(422), isSame: false },
  { after: 'a conflict', fault: answered(409), isSame: false },
  { after: 'a fault of the server', fault: answered(500), isSame: true },
  { after: 'no answer', fault: ProblemError.unreachable(), isSame: true },
  { after: 'something that is no answer', fault: new TypeError('broken'), isSame: true },
])('after $after the same wish has the same key: $isSame', ({ fault, isSame }) => {
  const { keyFor, finish } = begun();
  const first = keyFor({ name: 'a' });
  finish(fault);
  expect(keyFor({ name: 'a' }) === first).toBe(isSame);
});

it('another wish has another key, also while nobody knows of the first', () => {
  const { keyFor, finish } = begun();
  const first = keyFor({ name: 'a' });
  finish(ProblemError.unreachable());
  const second = keyFor({ name: 'b' });
  expect([second === first, keyFor({ name: 'a' }) === first]).toEqual([false, false]);
});

it('a wish without any content has a key too', () => {
  const { keyFor } = begun();
  expect(keyFor(undefined)).toBe(keyFor(undefined));
});

it('another file is another wish, also where all else is the same', () => {
  const { keyFor } = begun();
  const file = (name: string, text: string): File => new File([text], name, { lastModified: 1 });
  const first = keyFor({ message: 'a', files: [file('x', 'abc')] });
  expect(keyFor({ message: 'a', files: [file('x', 'abc')] })).toBe(first);
  expect(keyFor({ message: 'a', files: [file('x', 'abcd')] })).not.toBe(first);
});
