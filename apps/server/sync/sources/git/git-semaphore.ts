/** How many git processes run at once. */
import type { Gate } from './git-session.ts';

/** At most `places` of the given works run at once; the others wait in order. */
export function semaphore(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
