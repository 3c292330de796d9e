/** Follows the log of a run while the run is live and the page is visible. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { ended } from '../../../api/session-end.ts';
import { RunLog, type LogState } from './log.ts';

export function useRunLog(runId: string, isLive: boolean): { log: RunLog; state: LogState } {
  const queries = useQueryClient();
  const log = useMemo(
    () => new RunLog(runId, () => void queries.invalidateQueries({ queryKey: ['run', runId] })),
    [runId, queries],
  );
  const isSeen = useSyncExternalStore(onVisibility, () => document.visibilityState === 'visible');
  const hasEnded = useSyncExternalStore(ended.subscribe, ended.get);
  useEffect(() => {
    // A browser has six connections to a server: windows that nobody looks at hold none. And without a session each try
    // would count against the address.
    if (!isSeen || hasEnded) return undefined;
    const aborting = new AbortController();
    const { signal } = aborting;
    const work = async (): Promise<void> => {
      if (log.get().events.length === 0) await log.toNewest(signal);
      if (isLive) await log.follow(signal);
      else await log.catchUp(signal);
    };
    void work();
    return () => aborting.abort();
  }, [log, isLive, isSeen, hasEnded]);
  return { log, state: useSyncExternalStore(log.subscribe, log.get) };
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
