/** Events on the wire: one block each, whatever they hold. */
import { eventPlace, serverSentEvent } from './index.ts';

it('an event is one block of lines, whatever its text holds', () => {
  const text = serverSentEvent('stdout', { text: 'a\n\nid: 9\r\ndata: x\u2028y' }, 3);
  expect(text).toMatch(/^id: 3\nevent: stdout\ndata: [^\n\r]*\n\n$/);
  expect(JSON.parse(/^data: ([^\n]*)\n/m.exec(text)?.[1] ?? '')).toEqual({ text: 'a\n\nid: 9\r\ndata: x\u2028y' });
  expect(serverSentEvent('state', {})).toBe('event: state\ndata: {}\n\n');
});

it.each([
  ['0', 0],
  ['12', 12],
  ['', undefined],
  [undefined, undefined],
  ['-1', undefined],
  ['1.0', undefined],
  ['1e3', undefined],
  [' 1', undefined],
  ['9'.repeat(16), undefined],
])('the place %j is %s', (text, place) => {
  expect(eventPlace(text)).toBe(place);
});
