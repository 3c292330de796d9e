/** What the address asks for, and a way to change it. */
import { useCallback } from 'react';
import { useSearchParams, type SetURLSearchParams } from 'react-router';

/**
 * Changes begin at the address as it is now: what was chosen a moment ago stands there before the page is drawn again.
 */
export function useAddress(): [params: URLSearchParams, setParams: SetURLSearchParams] {
  const [params, set] = useSearchParams();
  const setParams: SetURLSearchParams = useCallback(
    (next, options) =>
      set(typeof next === 'function' ? next(new URLSearchParams(globalThis.location.search)) : next, options),
    [set],
  );
  return [params, setParams];
}
