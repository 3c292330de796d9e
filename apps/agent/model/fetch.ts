/** HTTP requests of the agent: through the proxy of the environment, with an idle timeout. */

/** The part of `fetch` that models and MCP servers are reached with. */
export type Fetch = typeof globalThis.fetch;

/** The endpoint sent nothing within the idle timeout. */
export class IdleTimeoutError extends Error {
  constructor(readonly seconds: number) {
    super(`nothing was received for ${seconds} s`);
    this.name = 'IdleTimeoutError';
  }
}

const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** `fetch` through HTTPS_PROXY or HTTP_PROXY where set, unless NO_PROXY names the host. */
export async function fetchOf(environment: Readonly<Record<string, string | undefined>>): Promise<Fetch> {
  if (PROXY_VARIABLES.every((name) => (environment[name] ?? '') === '')) return globalThis.fetch;
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent();
  return (input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) =>
    fetch(input, { ...init, dispatcher });
}

/** The same with an idle timeout: throws IdleTimeoutError after so many seconds without a byte. */
export function withIdleTimeout(fetch: Fetch, seconds: number): Fetch {
  return async (input, init) => {
    const watch = startIdleTimer(seconds);
    const signal = init?.signal == null ? watch.signal : AbortSignal.any([init.signal, watch.signal]);
    try {
      const answer = await fetch(input, { ...init, signal });
      watch.heard();
      if (answer.body === null) watch.stop();
      return answer.body === null ? answer : withTimedBody(answer, answer.body, watch);
    } catch (error) {
      watch.stop();
      throw watch.signal.aborted ? (watch.signal.reason as IdleTimeoutError) : error;
    }
  };
}

interface IdleTimer {
  signal: AbortSignal;
  heard(): void;
  stop(): void;
}

function startIdleTimer(seconds: number): IdleTimer {
  const controller = new AbortController();
  const start = (): NodeJS.Timeout =>
    setTimeout(() => controller.abort(new IdleTimeoutError(seconds)), seconds * 1_000);
  let timer = start();
  const stop = (): void => clearTimeout(timer);
  return {
    signal: controller.signal,
    stop,
    heard: () => {
      stop();
      timer = start();
    },
  };
}

function withTimedBody(answer: Response, body: ReadableStream<Uint8Array>, watch: IdleTimer): Response {
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          watch.stop();
          return controller.close();
        }
        watch.heard();
        controller.enqueue(value);
      } catch (error) {
        watch.stop();
        controller.error(watch.signal.aborted ? watch.signal.reason : error);
      }
    },
    async cancel(reason) {
      watch.stop();
      await reader.cancel(reason);
    },
  });
  return new Response(stream, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
}
