/**
 * Whether requests about a filter can be answered: one that can be used, exactly one thing to test it against,
 * deliveries that it shall either take or leave. contract §4.1 (filters), §7.
 */
import { compileFilter } from './compile.ts';
import { isObject } from './json.ts';

/** Members of which exactly one is given. */
const SAMPLE_MEMBERS = ['entry_id', 'payload'];

/** What is wrong with a member of a request, by JSON pointer into its body. */
interface RequestProblem {
  pointer: string;
  message: string;
}

/**
 * Everything wrong with a request to test a filter that its schema cannot state; problems of the filter below
 * `/filter`. Total.
 */
export function filterTestProblems(body: unknown): RequestProblem[] {
  return [
    ...filterReplayProblems(body),
    ...(isObject(body)
      ? samplePayloadProblems(SAMPLE_MEMBERS.filter((member) => Object.hasOwn(body, member)).length)
      : []),
  ];
}

/** The same of a request to test a filter against stored deliveries. */
export function filterReplayProblems(body: unknown): RequestProblem[] {
  const compilation = compileFilter(isObject(body) ? body['filter'] : undefined);
  return compilation.ok
    ? []
    : compilation.problems.map(({ pointer, message }) => ({
        pointer: `/filter${pointer}`,
        message: `cannot be used: ${message}`,
      }));
}

/** The same of a request for a filter: no delivery can be both taken and left. */
export function filterSuggestionProblems(body: unknown): RequestProblem[] {
  const [matching, left] = isObject(body) ? [body['entry_ids'], body['not_entry_ids']] : [];
  if (!Array.isArray(matching) || !Array.isArray(left)) return [];
  const listed = new Set<unknown>(matching);
  return left.flatMap((entryId, index) =>
    listed.has(entryId)
      ? [{ pointer: `/not_entry_ids/${index}`, message: 'is also listed under entry_ids; list it on one side only' }]
      : [],
  );
}

function samplePayloadProblems(given: number): RequestProblem[] {
  if (given === 1) return [];
  const words = given === 0 ? 'is required unless there is' : 'cannot be given together with';
  return SAMPLE_MEMBERS.map((member) => ({
    pointer: `/${member}`,
    message: `${words} ${SAMPLE_MEMBERS.filter((other) => other !== member).join()}`,
  }));
}
