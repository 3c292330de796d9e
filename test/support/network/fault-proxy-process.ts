/** The fault-injecting proxy as a child process of a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('fault-proxy.mjs', import.meta.url));

/** What happens to the next request that fits; see fault-proxy.mjs. */
export interface ProxyFault {
  kind:
    | 'answer'
    | 'refuse'
    | 'lose'
    | 'cut_headers'
    | 'cut_body'
    | 'truncate'
    | 'hang'
    | 'hang_body'
    | 'drip'
    | 'cut_stream'
    | 'end_stream';
  method?: string;
  path?: string;
  status?: number;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  pause_ms?: number;
  after_events?: number;
}

export interface ProxiedRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  fault?: string;
  status?: number;
}

export interface FaultProxy {
  url: string;
  /** Faults for the requests to come, in order. */
  fail(...faults: ProxyFault[]): Promise<void>;
  /** What has come in since the last `forget`, and how many faults wait for a request. */
  seen(): Promise<{ requests: ProxiedRequest[]; faults_left: number }>;
  forget(): Promise<void>;
  close(): Promise<void>;
}

/** Starts it in front of a service. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const child = spawn(process.execPath, [PROGRAM, target], { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { proxy, control } = JSON.parse(line) as { proxy: string; control: string };
  const steer = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(control + path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
    if (!answer.ok) throw new Error(`the fault proxy refuses: ${await answer.text()}`);
    return answer.json();
  };
  return {
    url: proxy,
    fail: async (...faults) => void (await steer('POST', '/faults', faults)),
    seen: async () => (await steer('GET', '/requests')) as { requests: ProxiedRequest[]; faults_left: number },
    forget: async () => void (await steer('DELETE', '/')),
    async close() {
      const ended = once(child, 'close');
      child.stdin.end();
      await ended;
    },
  };
}
