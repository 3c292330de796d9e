/** Waiting that ends with an abort signal. */

/** The promise's value, unless the signal is aborted first: then rejects with an AbortError. */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(aborted());
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Waits so many milliseconds; rejects with an AbortError when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(aborted());
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    const abort = (): void => {
      clearTimeout(timer);
      reject(aborted());
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function aborted(): DOMException {
  return new DOMException('the turn was cancelled', 'AbortError');
}
