/** A mutation by a user action: once, however often it is pressed, and with no secret left in a cache. */
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { idempotencyKey } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { idempotencyKeys } from './idempotency-keys.ts';

interface Change<Wanted> {
  start: (wanted: Wanted) => void;
  isPending: boolean;
  /** Null where the session has ended: then the sign-in above the page says so. */
  error: unknown;
  /** Forgets the error. */
  reset: () => void;
}

/**
 * `change` gets an idempotency key beside what is wanted: the same one again only where nobody knows what became of the
 * first request. `onDone` is given the answer, which is then forgotten here.
 */
export function useChange<Wanted, Done>(
  change: (wanted: Wanted, key: string) => Promise<Done>,
  onDone: (done: Done) => void,
): Change<Wanted> {
  // The library tells of a start only with the next rendering, which is after the second press.
  const isUnderWay = useRef(false);
  const [{ keyFor, finish }] = useState(() => idempotencyKeys(idempotencyKey));
  const mutationFn = (wanted: Wanted): Promise<Done> => change(wanted, keyFor(wanted));
  const { mutateAsync, isPending, error, reset } = useMutation({ mutationFn, gcTime: 0 });
  const run = async (wanted: Wanted): Promise<void> => {
    try {
      const done = await mutateAsync(wanted);
      finish();
      reset();
      onDone(done);
    } catch (fault) {
      finish(fault);
    } finally {
      isUnderWay.current = false;
    }
  };
  const start = (wanted: Wanted): void => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    void run(wanted);
  };
  return { start, isPending, error: problemOf(error)?.status === 401 ? null : error, reset };
}
