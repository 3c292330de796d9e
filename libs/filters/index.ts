/** The door of `#filters`: raw filter JSON in, a filter that can be asked about payloads out. */
export * from './types.ts';
export * from './compile.ts';
export { foldLookAlikes, lookAlikeWords } from './look-alikes.ts';
export { DECISION_READS_MAX, PAYLOAD_BYTES_MAX } from './limits.ts';
export { DEPTH_MAX, LEAVES_MAX } from './read.ts';
export { SET_VALUES_MAX } from './sets.ts';
export { FilterDraft, suggestFilter } from './suggest.ts';
export type { SuggestedFilter } from './suggest.ts';
export { filterReplayProblems, filterSuggestionProblems, filterTestProblems } from './test-requests.ts';
