/** Where broken JSON breaks; that nothing else is called broken is compared with the engine's own parser. */
import * as fc from 'fast-check';
import { findJsonFault } from './json-text.ts';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

describe('a fault in JSON', () => {
  it.each<{ text: string; line: number; column: number; why: string }>([
    { text: '', line: 1, column: 1, why: 'nothing' },
    { text: ' \n ', line: 2, column: 2, why: 'only space' },
    { text: '{"a": 1', line: 1, column: 8, why: 'cut off behind a value' },
    { text: '{"a": "long', line: 1, column: 12, why: 'cut off in a string' },
    { text: '{"a"', line: 1, column: 5, why: 'cut off behind a name' },
    { text: '{"a":}', line: 1, column: 6, why: 'no value' },
    { text: '{"a": 1,}', line: 1, column: 9, why: 'a comma before the end of an object' },
    { text: '[1,]', line: 1, column: 4, why: 'a comma before the end of an array' },
    { text: '[,1]', line: 1, column: 2, why: 'a comma before the first' },
    { text: '[1 2]', line: 1, column: 4, why: 'no comma' },
    { text: '[1}', line: 1, column: 3, why: 'the wrong bracket' },
    { text: ']', line: 1, column: 1, why: 'a bracket that nothing opened' },
    { text: '{a: 1}', line: 1, column: 2, why: 'a bare name' },
    { text: "{'a': 1}", line: 1, column: 2, why: 'single quotes' },
    { text: '{1: 2}', line: 1, column: 2, why: 'a number as a name' },
    { text: '{}{}', line: 1, column: 3, why: 'two texts' },
    { text: '{}\n\n  x', line: 3, column: 3, why: 'something behind the text' },
    { text: '"a\nb"', line: 1, column: 3, why: 'a line break in a string' },
    { text: '"\\x"', line: 1, column: 2, why: 'an escape that there is not' },
    { text: '"\\u12g4"', line: 1, column: 2, why: 'half an escape' },
    { text: '01', line: 1, column: 2, why: 'a leading zero' },
    { text: '1.', line: 1, column: 2, why: 'a point without digits' },
    { text: '+1', line: 1, column: 1, why: 'a plus' },
    { text: 'NaN', line: 1, column: 1, why: 'no number' },
    { text: 'True', line: 1, column: 1, why: 'another language’s word' },
    { text: '{"a": 1 /* x */}', line: 1, column: 9, why: 'a comment' },
    { text: '\ufeff{}', line: 1, column: 1, why: 'a byte order mark' },
    { text: '{\r\n  "a": 1\r\n  "b": 2\r\n}', line: 3, column: 3, why: 'a missing comma, lines ended by CR LF' },
  ])('$why', ({ text, line, column }) => expect(findJsonFault(text)).toEqual({ line, column }));

  it.each([
    '{}',
    '[]',
    '0',
    '-0.5e-7',
    '"\\ud800"',
    ' [ { "a" : [ ] , "a" : { } } , null , true , false ] ',
    '"\u007f\u2028"',
  ])('is not in %s', (text) => expect(findJsonFault(text)).toBeUndefined());

  it('is there exactly when the engine refuses the text', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'null',
      ' ',
      '\n',
      '\\',
      '\\n',
      '\\u0041',
      'x',
      '\u0001',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
        (text) => {
          let valid = true;
          try {
            JSON.parse(text);
          } catch {
            valid = false;
          }
          expect(findJsonFault(text) === undefined).toBe(valid);
        },
      ),
      { numRuns: examples(20_000) },
    );
  });

  it('is found in deep and long texts without a stack', () => {
    expect(findJsonFault('['.repeat(1_000_000))).toEqual({ line: 1, column: 1_000_001 });
    expect(findJsonFault(`"${'a'.repeat(1_000_000)}`)).toEqual({ line: 1, column: 1_000_002 });
  });
});
