/** Types of query parameters, made of the API document's. */
import type { operations } from '../generated.ts';

type Asked<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;

/** Parameters that hold points in time: RFC 3339 text, or a `Date`. */
type TimeName = 'created_after' | 'created_before' | 'updated_after' | 'since' | 'until';

/** Repeatable parameters take one value as well as a list. */
type Given<Value> = Value extends readonly (infer Item)[] ? Item | readonly Item[] : Value;

/** The query parameters of an operation. */
export type QueryOf<Name extends keyof operations> = {
  [Key in keyof Asked<Name>]: Key extends TimeName ? Asked<Name>[Key] | Date : Given<Asked<Name>[Key]>;
};

/** The state that a change is about. */
export interface IfMatch {
  /** `ETag` of what was read (`withResponse()` has it); another state is refused with 409. */
  ifMatch?: string | undefined;
}

/** The header that names the state; none where none was named. */
export function whenMatching(ifMatch: string | undefined): Record<string, string> {
  return ifMatch === undefined ? {} : { 'If-Match': ifMatch };
}
