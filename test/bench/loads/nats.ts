/**
 * As much of the NATS protocol as a benchmark needs: publish to a JetStream stream, and wait for the acknowledgement.
 * https://docs.nats.io/reference/reference-protocols/nats-protocol
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer, Protocol } from './load-generator.ts';

const STREAM = 'bench';
const SUBJECT = `${STREAM}.deliveries`;
/** Longer than a load: what is published again meanwhile is not stored again. Nanoseconds, as the API wants them. */
const DUPLICATE_WINDOW_NS = 120_000_000_000;
const ANSWER_MS_MAX = 5_000;

/** What follows the subjects of a publication that is named: lengths, headers, payload. */
export function natsPublication(id: string, payload: string): Buffer {
  const headers = `NATS/1.0\r\nNats-Msg-Id: ${id}\r\n\r\n`;
  return Buffer.from(`${headers.length} ${headers.length + payload.length}\r\n${headers}${payload}\r\n`);
}

/** A connection proves itself once, and has an inbox of its own for acknowledgements. */
export function natsProtocol(token: string): Protocol {
  return {
    greeting: (connection) => greeting(token, inboxOf(connection)),
    request: (publication, connection) =>
      Buffer.concat([Buffer.from(`HPUB ${SUBJECT} ${inboxOf(connection)} `), publication]),
    answerIn,
  };
}

const inboxOf = (connection: number): string => `_INBOX.${connection}`;

function greeting(token: string, inbox: string): Buffer {
  const options = { verbose: false, pedantic: false, headers: true, auth_token: token };
  return Buffer.from(`CONNECT ${JSON.stringify(options)}\r\nSUB ${inbox} 1\r\n`);
}

/** An acknowledgement of the stream; whatever else the server says is passed over. */
function answerIn(bytes: Buffer): Answer | undefined {
  const message = messageIn(bytes.toString('latin1'));
  if (message === undefined) return undefined;
  return { status: 'seq' in message && !('error' in message) ? 'stored' : 'refused', closes: false };
}

function messageIn(text: string): Record<string, unknown> | undefined {
  const refusal = /(?:^|\r\n)-ERR ([^\r]*)\r\n/.exec(text);
  if (refusal !== null) return { error: refusal[1] };
  const head = /(?:^|\r\n)MSG \S+ \S+ (\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const from = head.index + head[0].length;
  const length = Number(head[1]);
  return text.length < from + length + 2
    ? undefined
    : (JSON.parse(text.slice(from, from + length)) as Record<string, unknown>);
}

/** Makes the stream that is published to, kept in files. Throws where nobody answers or it is refused. */
export async function createStream(port: number, token: string): Promise<void> {
  const inbox = '_INBOX.setup';
  const wanted = JSON.stringify({
    name: STREAM,
    subjects: [SUBJECT],
    storage: 'file',
    retention: 'limits',
    num_replicas: 1,
    duplicate_window: DUPLICATE_WINDOW_NS,
  });
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error('the server does not answer')));
  try {
    await once(socket, 'connect');
    socket.write(greeting(token, inbox));
    socket.write(`PUB $JS.API.STREAM.CREATE.${STREAM} ${inbox} ${wanted.length}\r\n${wanted}\r\n`);
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      const answer = messageIn(text);
      if (answer === undefined) continue;
      if ('error' in answer) throw new Error(`no stream: ${JSON.stringify(answer['error'])}`);
      return;
    }
    throw new Error('the server has closed the connection');
  } finally {
    socket.destroy();
  }
}
