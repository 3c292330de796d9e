/** A client of server-sent events: reads a stream as it comes. */
import type { TestService } from '../services/service.ts';

export interface StreamedEvent {
  event: string;
  id?: string;
  data: Record<string, unknown>;
}

export interface OpenStream {
  status: number;
  headers: Headers;
  /** Events so far. */
  events: StreamedEvent[];
  /** Comments and other lines that are no event. */
  comments: string[];
  /** Settles when the server has ended the stream or the connection is gone. */
  ended: Promise<void>;
  close(): void;
}

export interface StreamOptions {
  key?: string;
  query?: string;
  lastEventId?: string;
  accept?: string;
}

/** Opens the stream of a run's log. */
export async function openStream(
  service: TestService,
  runId: string,
  options: StreamOptions = {},
): Promise<OpenStream> {
  const { key = service.adminKey, query = '', lastEventId, accept = 'text/event-stream' } = options;
  const aborting = new AbortController();
  const answer = await fetch(`${service.url}/api/v1/agent/runs/${runId}/events${query}`, {
    headers: {
      authorization: `Bearer ${key}`,
      accept,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: aborting.signal,
  });
  const stream: OpenStream = {
    status: answer.status,
    headers: answer.headers,
    events: [],
    comments: [],
    ended: Promise.resolve(),
    close: () => aborting.abort(),
  };
  stream.ended = read(answer, stream).catch(() => undefined);
  return stream;
}

async function read(answer: Response, { events, comments }: OpenStream): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) take(block, events, comments);
  }
}

function take(block: string, events: StreamedEvent[], comments: string[]): void {
  const fields = new Map(
    block
      .split('\n')
      .map((line): [string, string] => [
        line.slice(0, line.indexOf(':')),
        line.slice(line.indexOf(':') + 1).trimStart(),
      ]),
  );
  const data = fields.get('data');
  if (data === undefined) comments.push(block);
  else
    events.push({
      event: fields.get('event') ?? 'message',
      id: fields.get('id'),
      data: JSON.parse(data) as Record<string, unknown>,
    });
}
