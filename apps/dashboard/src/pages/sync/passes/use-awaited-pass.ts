/** Requests a pass and waits for its result. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { LIVE_MS } from '../../../app/queries.ts';
import { useStatus } from '../../factories/queries.ts';
import type { Status } from '../../factories/state.tsx';

const SOON_MS = 500;

/** The status of a factory, asked for often while a pass is awaited. */
export function useAwaitedPass(factoryUid: string) {
  const queries = useQueryClient();
  const [awaited, setAwaited] = useState<number>();
  const [over, setOver] = useState<Status>();
  const query = useStatus(factoryUid, { everyMs: awaited === undefined ? LIVE_MS : SOON_MS });
  const status = query.data;
  const isOver = awaited !== undefined && status !== undefined && status.generation_handled >= awaited;
  if (isOver) {
    setAwaited(undefined);
    setOver(status);
  }
  useEffect(() => {
    // What the pass changed stands on other pages too.
    if (over !== undefined)
      for (const name of ['factory', 'webhooks', 'automations', 'syncs', 'factory-events'])
        void queries.invalidateQueries({ queryKey: [name, factoryUid] });
  }, [over, queries, factoryUid]);
  const wait = (generation: number): void => {
    setOver(undefined);
    setAwaited(generation);
    void queries.invalidateQueries({ queryKey: ['status', factoryUid] });
  };
  return { query, awaited, over, wait, forget: () => setOver(undefined) };
}

export type AwaitedPass = ReturnType<typeof useAwaitedPass>;
