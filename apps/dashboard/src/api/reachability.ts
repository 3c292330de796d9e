/** Whether the server answers: the last thing that was heard of it. */
type Listener = () => void;

let reachable = true;
const listeners = new Set<Listener>();

function become(now: boolean): void {
  if (reachable === now) return;
  reachable = now;
  for (const listener of listeners) listener();
}

export const reachability = {
  lost: (): void => become(false),
  found: (): void => become(true),
  isReachable: (): boolean => reachable,
  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
