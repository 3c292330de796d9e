/** What stands in a payload where a filter failed. */
import type { JsonValue } from '#filters';
import { actualValueText } from './actual-values.ts';

const PAYLOAD: JsonValue = {
  run: { conclusion: 'success', 'a/b': null },
  items: [{ sku: 'A' }, { sku: 'B' }, {}],
  long: 'x'.repeat(300),
};

test.each([
  ['/run/conclusion', '"success"'],
  ['/run/a~1b', 'null'],
  ['/run/gone', 'nothing, it is not there'],
  ['/run/conclusion/deeper', 'nothing, it is not there'],
  ['/toString', 'nothing, it is not there'],
  ['/items/sku', '"A", "B"'],
  ['/items', '[{"sku":"A"},{"sku":"B"},{}]'],
])('%s', (pointer, text) => expect(actualValueText(PAYLOAD, pointer)).toBe(text));

test('what is long is cut', () => expect(actualValueText(PAYLOAD, '/long')).toHaveLength(121));
