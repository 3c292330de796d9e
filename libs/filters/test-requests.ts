/** Whether a request to test a filter can be answered: a filter that can be used, and exactly one thing to test it against. contract 4 (filters/test), 7. */
import { compileFilter } from './compile.ts';
import { isObject } from './json.ts';

/** Members of which exactly one is given. */
const SPECIMENS = ['entry_id', 'payload'];

/** Everything wrong with such a request that its schema cannot state, by JSON pointer into its body; problems of the filter below `/filter`. Total. */
export function filterTestProblems(body: unknown): { pointer: string; message: string }[] {
  if (!isObject(body)) return [];
  const compilation = compileFilter(body['filter']);
  const ofFilter = compilation.ok ? [] : compilation.problems.map(({ pointer, message }) => ({ pointer: `/filter${pointer}`, message: `cannot be used: ${message}` }));
  return [...ofFilter, ...specimenProblems(SPECIMENS.filter((member) => Object.hasOwn(body, member)).length)];
}

function specimenProblems(given: number): { pointer: string; message: string }[] {
  if (given === 1) return [];
  const words = given === 0 ? 'is required unless there is' : 'cannot be given together with';
  return SPECIMENS.map((member) => ({ pointer: `/${member}`, message: `${words} ${SPECIMENS.filter((other) => other !== member).join()}` }));
}
