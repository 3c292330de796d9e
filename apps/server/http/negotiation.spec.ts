/** Accept headers as clients send them: what is answered, and when nothing can be. */
import { acceptedType } from './negotiation.ts';

const JSON_TYPE = 'application/json';
const EVENTS = 'text/event-stream';

describe('an Accept header', () => {
  it.each<{ accept: string | undefined; types: string[]; answered: string | undefined; why: string }>([
    { accept: undefined, types: [JSON_TYPE], answered: JSON_TYPE, why: 'is not needed' },
    { accept: '', types: [JSON_TYPE], answered: JSON_TYPE, why: 'may be empty' },
    { accept: '*/*', types: [JSON_TYPE, EVENTS], answered: JSON_TYPE, why: 'of everything gets what we prefer' },
    { accept: 'application/*', types: [EVENTS, JSON_TYPE], answered: JSON_TYPE, why: 'may name a family' },
    {
      accept: 'Application/JSON; charset=utf-8',
      types: [JSON_TYPE],
      answered: JSON_TYPE,
      why: 'is in any case, with parameters',
    },
    {
      accept: 'text/html, application/xhtml+xml, */*;q=0.8',
      types: [JSON_TYPE],
      answered: JSON_TYPE,
      why: 'of a browser',
    },
    { accept: 'text/html', types: [JSON_TYPE], answered: undefined, why: 'may exclude us' },
    { accept: 'application/json;q=0', types: [JSON_TYPE], answered: undefined, why: 'may exclude us by name' },
    {
      accept: 'application/json;q=0, */*',
      types: [JSON_TYPE],
      answered: undefined,
      why: 'goes by the most specific range',
    },
    { accept: '*/*;q=0.1, text/event-stream', types: [JSON_TYPE, EVENTS], answered: EVENTS, why: 'chooses' },
    {
      accept: 'text/event-stream;q=0.5, application/json;q=0.9',
      types: [EVENTS, JSON_TYPE],
      answered: JSON_TYPE,
      why: 'chooses by quality',
    },
    {
      accept: 'application/problem+json',
      types: [JSON_TYPE],
      answered: undefined,
      why: 'of problems only gets nothing else',
    },
    { accept: 'nonsense', types: [JSON_TYPE], answered: JSON_TYPE, why: 'that says nothing excludes nothing' },
    { accept: ',,;', types: [JSON_TYPE], answered: JSON_TYPE, why: 'of commas' },
    { accept: 'application/jsonx', types: [JSON_TYPE], answered: undefined, why: 'is compared whole' },
  ])('$why', ({ accept, types, answered }) => expect(acceptedType(accept, types)).toBe(answered));

  it('of many thousand ranges costs no more than its length', () => {
    expect(acceptedType(`${'a/b;q=0.1,'.repeat(2_000)}application/json`, [JSON_TYPE])).toBe(JSON_TYPE);
  });
});
