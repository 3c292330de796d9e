/** When two definitions say the same. */
import { canonicalText, differingMembers } from './canonical.ts';

describe('canonicalText', () => {
  it.each<[unknown, unknown, boolean, string]>([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true, 'key order says nothing'],
    [{ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }, true, 'also further down'],
    [[{ x: 1, y: 2 }], [{ y: 2, x: 1 }], true, 'also inside arrays'],
    [{ a: undefined }, {}, true, 'undefined is absent'],
    [{ a: { b: undefined } }, { a: {} }, true, 'also further down'],
    [{ a: null }, {}, false, 'null is not absent'],
    [{ a: '' }, {}, false, 'empty is not absent'],
    [{ a: [] }, {}, false, 'an empty list is not absent'],
    [{ a: [] }, { a: {} }, false, 'a list is no object'],
    [[1, 2], [2, 1], false, 'array order says something'],
    [{ a: 1 }, { a: '1' }, false, 'types count'],
    [{ 'a":1,"b': 1 }, { a: 1, b: 1 }, false, 'names are quoted'],
    [['a,b'], ['a', 'b'], false, 'texts are quoted'],
    [JSON.parse('{"__proto__": 1}'), {}, false, 'a member called __proto__ counts'],
    [JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 2}}'), false, 'and so does what it holds'],
  ])('%j and %j: %p (%s)', (one, other, same) => {
    expect(canonicalText(one) === canonicalText(other)).toBe(same);
  });
});

describe('differingMembers', () => {
  it.each<[object, object, string[], string]>([
    [{ a: 1, b: { c: 1 } }, { b: { c: 1 }, a: 1 }, [], 'equal'],
    [{ b: 1, a: 1 }, { a: 2, b: 2 }, ['a', 'b'], 'changed, sorted'],
    [{ a: 1 }, { a: 1, b: 1 }, ['b'], 'added'],
    [{ a: 1, b: 1 }, { a: 1 }, ['b'], 'removed'],
    [{ a: 1, b: 1 }, { a: 1, b: undefined }, ['b'], 'removed by undefined'],
    [{ b: undefined }, { a: undefined }, [], 'absent on both sides'],
    [JSON.parse('{"__proto__": 1}'), {}, ['__proto__'], 'a name of the language'],
    [{}, { constructor: 1 }, ['constructor'], 'nothing is inherited'],
  ])('%j → %j: %p (%s)', (before, after, expected) => {
    expect(differingMembers(before, after)).toEqual(expected);
  });
});
