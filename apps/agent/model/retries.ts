/** Reports retries of the model endpoint: the cause, and nothing of the request. */
import { codeOf } from './model-errors.ts';
import { type Fetch, IdleTimeoutError } from './fetch.ts';

/** The same `fetch`; `tell` receives the cause of the first retry by the AI SDK. Made for one turn. */
export function reportingRetries(fetch: Fetch, retriesMax: number, tell: (text: string) => void): Fetch {
  let isReported = retriesMax === 0;
  const note = (what: string): void => {
    if (!isReported)
      tell(`the model endpoint ${what}; trying again, ${retriesMax === 1 ? 'once' : `up to ${retriesMax} times`}`);
    isReported = true;
  };
  return async (input, init) => {
    try {
      const answer = await fetch(input, init);
      if (isRetried(answer.status)) note(`answered ${answer.status}`);
      return answer;
    } catch (error) {
      if (init?.signal?.aborted !== true && !(error instanceof IdleTimeoutError))
        note(`cannot be reached (${codeOf(error) ?? 'connection failed'})`);
      throw error;
    }
  };
}

/** As the AI SDK has it. */
function isRetried(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429;
}
