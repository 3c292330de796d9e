/** Whether the session ended under an open page: requests pause until the next sign-in, and input is preserved. */
let hasEnded = false;
const listeners = new Set<() => void>();

export const ended = {
  get: (): boolean => hasEnded,
  set(now: boolean): void {
    if (hasEnded === now) return;
    hasEnded = now;
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
