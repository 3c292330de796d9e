/** A run's log as server-sent events, read with the session's cookie. */
import { apiUrl } from '../../../api/client.ts';
import { reachability } from '../../../api/reachability.ts';
import type { RunEvent } from './entries.ts';

/** What a stream says besides entries: the run's state, whenever it has changed. */
interface Listener {
  onEvent: (event: RunEvent) => void;
  onState: () => void;
}

/**
 * Reads what comes behind `after` until the server ends the stream. Answers the status; 0 when nobody answered or the
 * connection broke.
 */
export async function readEvents(
  runId: string,
  after: number,
  listener: Listener,
  signal: AbortSignal,
): Promise<number> {
  try {
    const answer = await fetch(apiUrl(`agent/runs/${encodeURIComponent(runId)}/events?after=${after}`), {
      headers: { Accept: 'text/event-stream' },
      credentials: 'same-origin',
      cache: 'no-store',
      signal,
    });
    if (!answer.ok || answer.body === null) return answer.status;
    reachability.found();
    await readBlocks(answer.body, (block) => take(block, listener));
    return answer.status;
  } catch {
    return 0;
  }
}

async function readBlocks(body: ReadableStream<Uint8Array>, onBlock: (block: string) => void): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (let text = ''; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) onBlock(block);
  }
}

function take(block: string, { onEvent, onState }: Listener): void {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trimStart();
  const data = field('data');
  if (data === undefined) return;
  if (field('event') === 'state') onState();
  else onEvent(JSON.parse(data) as RunEvent);
}
