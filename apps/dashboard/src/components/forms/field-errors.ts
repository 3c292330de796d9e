/** The field errors of a refused request, each until its field is edited. */
import { useState } from 'react';
import { problemOf } from '../../api/problems.ts';

/** `values` are what the form has now, by the JSON pointers of the members. */
export function useFieldErrors(
  error: unknown,
  values: Readonly<Record<string, unknown>>,
): (pointer: string) => string | undefined {
  const [refused, setRefused] = useState({ error, values });
  if (refused.error !== error) setRefused({ error, values });
  return (pointer) => (values[pointer] === refused.values[pointer] ? problemOf(error)?.fault(pointer) : undefined);
}
