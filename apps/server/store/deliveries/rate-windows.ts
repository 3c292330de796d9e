/** The slots of the last minute as this process wrote them; what is forgotten is read from the log again. */
import { RATE_WINDOW_MS } from '#deliveries';
import type { RateWindows } from './pending-deliveries.ts';

/** Beyond this many webhooks, those without a slot in the last minute are forgotten. */
const WEBHOOKS_MAX = 20_000;

export class RateWindowCache {
  private readonly windows = new Map<string, readonly number[]>();

  all(): RateWindows {
    return this.windows;
  }

  /** Takes over what a committed batch left behind. */
  update(windows: RateWindows): void {
    for (const [uid, window] of windows) this.windows.set(uid, window);
    if (this.windows.size > WEBHOOKS_MAX) this.forget();
  }

  private forget(): void {
    const newest = Math.max(...[...this.windows.values()].slice(-1).map((window) => window.at(-1) ?? 0));
    for (const [uid, window] of this.windows)
      if ((window.at(-1) ?? 0) <= newest - RATE_WINDOW_MS) this.windows.delete(uid);
  }
}
