/**
 * Operations and components are found by name, and a name that does not exist is a mistake of the caller. contract §3,
 * §4.
 */
import { componentOf, operationOf, OPERATIONS, problemStatusesOf, type Operation } from './index.ts';
import { PROBLEM_ANSWERS } from './problem-answers.ts';

describe('an operation', () => {
  it('is found by its id', () => {
    for (const operation of OPERATIONS.flatMap(({ operations }) => operations))
      expect(operationOf(operation.id)).toBe(operation);
  });

  it.each(['', 'noSuchOperation', 'constructor', '__proto__'])('of the id %j does not exist', (id) => {
    expect(() => operationOf(id)).toThrow('there is no operation');
  });
});

describe('a component', () => {
  it('is found by the name of its file', () => {
    expect(componentOf('run-id')).toMatchObject({ title: 'RunId', type: 'string' });
  });

  it.each(['', 'no-such-component', 'run-id.schema.json', '../webhook'])('of the name %j does not exist', (name) => {
    expect(() => componentOf(name)).toThrow('there is no component');
  });
});

describe('problems that an operation can be answered with', () => {
  const bare: Operation = { id: 'x', method: 'get', path: '/x', summary: 'X', answers: {} };
  const parameter = (place: 'path' | 'query' | 'header') => ({
    name: 'x',
    in: place,
    description: 'x',
    schema: { type: 'string' },
  });
  it.each<{ more: Partial<Operation>; statuses: number[]; why: string }>([
    { more: {}, statuses: [500, 503], why: 'everything can fail' },
    { more: { role: 'viewer' }, statuses: [401, 403, 429, 500, 503], why: 'a key is asked for' },
    {
      more: { parameters: [parameter('path')] },
      statuses: [404, 500, 503],
      why: 'a path names something that may not exist',
    },
    { more: { parameters: [parameter('query')] }, statuses: [400, 431, 500, 503], why: 'a query can be malformed' },
    {
      more: { parameters: [parameter('header')] },
      statuses: [500, 503],
      why: 'a header is the business of the operation',
    },
    {
      more: { method: 'put', body: 'x' },
      statuses: [400, 413, 415, 500, 503],
      why: 'a body can be malformed, too large, of another type',
    },
    { more: { method: 'delete' }, statuses: [500, 503], why: 'a deletion takes no body' },
    {
      more: { method: 'post', role: 'admin' },
      statuses: [400, 401, 403, 409, 413, 415, 429, 500, 503],
      why: 'an idempotency key can belong to another request',
    },
    {
      more: { method: 'post' },
      statuses: [400, 413, 415, 500, 503],
      why: 'without a key there is nobody whom an idempotency key belongs to',
    },
    {
      more: { refusals: [422, 404], parameters: [parameter('path')] },
      statuses: [404, 422, 500, 503],
      why: 'further ones are declared, and none is there twice',
    },
  ])('are $statuses, because $why', ({ more, statuses }) => {
    expect(problemStatusesOf({ ...bare, ...more })).toEqual(statuses);
  });

  it('are all described', () => {
    const statuses = new Set(OPERATIONS.flatMap(({ operations }) => operations.flatMap(problemStatusesOf)));
    expect([...statuses].filter((status) => PROBLEM_ANSWERS[status] === undefined)).toEqual([]);
  });
});
