/**
 * What gets through from an agent: answers to our questions, its questions, and updates of a shape; nothing is printed,
 * whatever it sends.
 */
import { jest } from '@jest/globals';
import { PassThrough, Readable, Writable } from 'node:stream';
import { OverflowError, UnreadOutputError } from './agent-failures.ts';
import { eventually } from '../../../../test/support/services/service.ts';
import { AgentStream } from './agent-stream.ts';

it('hands updates on, drops what nobody asked for, and prints nothing', async () => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const [from, to] = [new PassThrough(), new PassThrough()];
  const updates: unknown[] = [];
  const stream = new AgentStream(
    Writable.toWeb(to) as WritableStream<Uint8Array>,
    Readable.toWeb(from) as ReadableStream<Uint8Array>,
    (update) => {
      const { content } = update.update as { content: { text: string } };
      updates.push(content.text.toUpperCase()); // throws for shapes that are none
    },
  );
  const writer = stream.writable.getWriter();
  void writer.write({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
  const send = (message: unknown): boolean => from.write(`${JSON.stringify(message)}\n`);
  const update = (params: unknown): boolean => send({ jsonrpc: '2.0', method: 'session/update', params });
  for (const params of [
    undefined,
    null,
    5,
    {},
    { sessionId: 's' },
    { sessionId: 5, update: { sessionUpdate: 'agent_message_chunk' } },
    { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: null } },
  ])
    update(params);
  update({
    sessionId: 's',
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'heard' } },
  });
  send({ jsonrpc: '2.0', id: 99, result: 'nobody asked' });
  send({ jsonrpc: '2.0', id: 1, result: 'asked' });
  send({ jsonrpc: '2.0', id: 1, result: 'answered already' });
  send({ jsonrpc: '2.0', id: 7, method: 'session/update', params: {} });
  from.end();
  const messages: unknown[] = [];
  for await (const message of stream.readable as unknown as AsyncIterable<unknown>) messages.push(message);
  expect(messages).toEqual([
    { jsonrpc: '2.0', id: 1, result: 'asked' },
    expect.objectContaining({ id: 7, method: 'session/update' }),
  ]);
  expect(updates).toEqual(['HEARD']);
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});

function piped() {
  const [from, to] = [new PassThrough(), new PassThrough()];
  const stream = new AgentStream(
    Writable.toWeb(to) as WritableStream<Uint8Array>,
    Readable.toWeb(from) as ReadableStream<Uint8Array>,
    () => undefined,
  );
  const all = async (): Promise<Record<string, unknown>[]> => {
    const messages: Record<string, unknown>[] = [];
    for await (const message of stream.readable as unknown as AsyncIterable<Record<string, unknown>>)
      messages.push(message);
    return messages;
  };
  return {
    from,
    to,
    all,
    writer: stream.writable.getWriter(),
    send: (message: unknown) => from.write(`${JSON.stringify(message)}\n`),
  };
}
const FAULT = { code: -32_601, message: 'x'.repeat(200), data: 'y'.repeat(5_000) };

it('lets no request through that could not be answered in few words, and of others what is looked at', async () => {
  const { from, all, send } = piped();
  const method = 'session/request_permission';
  for (const id of ['i'.repeat(257), null, {}, [1], true]) send({ jsonrpc: '2.0', id, method, params: {} });
  for (const odd of [{ id: 1, method: 'm'.repeat(257) }, { id: 1, method: 5 }, { odd: 'x' }, { method: 5 }])
    send({ jsonrpc: '2.0', ...odd });
  send({
    id: 'i'.repeat(256),
    method: 'fs/read_text_file',
    params: { path: 'p'.repeat(500_000) },
    more: 'x'.repeat(500_000),
  });
  const rawInput = { text: 'kept', long: 'l'.repeat(500_000), list: Array.from({ length: 50_000 }, () => 0) };
  send({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      sessionId: 's',
      toolCall: { toolCallId: 'c', title: 't', content: ['x'], rawInput },
      options: [{ optionId: 'y' }],
    },
  });
  from.end();
  const messages = await all();
  expect(messages).toHaveLength(2);
  expect(messages[0]).toEqual({ jsonrpc: '2.0', id: 'i'.repeat(256), method: 'fs/read_text_file', params: {} });
  expect(messages[1]).toMatchObject({
    id: 1,
    params: {
      sessionId: 's',
      options: [{ optionId: 'y' }],
      toolCall: { toolCallId: 'c', title: 't', rawInput: { text: 'kept', long: '[500000 characters left out]' } },
    },
  });
  expect(JSON.stringify(messages[1]).length).toBeLessThan(20_000);
});

it('ends with an agent that asks and does not read, after a mebibyte of answers, and only then', async () => {
  const { all, writer } = piped();
  const read = all().catch((error: unknown) => error);
  // our own words do not count
  void writer.write({ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { prompt: 'p'.repeat(3_000_000) } });
  const answer = { jsonrpc: '2.0', id: 'i'.repeat(256), error: FAULT } as const;
  // each without its long data: a megabyte
  for (let number = 0; number < 2_000; number += 1) await writer.write(answer);
  let more = 0;
  const failure = await (async () => {
    for (; more < 2_000; more += 1) await writer.write(answer);
    return undefined;
  })().catch((error: unknown) => error);
  expect([failure instanceof UnreadOutputError, more > 0, more < 500]).toEqual([true, true, true]);
  expect(await read).toBeInstanceOf(UnreadOutputError);
});

it('answers any number of questions of an agent that reads', async () => {
  const { to, writer } = piped();
  let bytes = 0;
  to.on('data', (chunk: Buffer) => void (bytes += chunk.length));
  for (let number = 0; number < 5_000; number += 1) {
    await writer.write({ jsonrpc: '2.0', id: number, error: FAULT });
    if (number % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await writer.close();
  expect(bytes).toBeGreaterThan(1_250_000);
});

it('reads no message of more values than anybody sends, and any text', async () => {
  const many = piped();
  many.send({ jsonrpc: '2.0', method: 'x', params: [',[{"\\'.repeat(100_000), ',[{'.repeat(100_000)] });
  many.send({ jsonrpc: '2.0', method: 'x', params: Array.from({ length: 1_000 }, () => 0) });
  many.send({ jsonrpc: '2.0', method: 'x', params: Array.from({ length: 200_001 }, () => 0) });
  many.from.end();
  expect(await many.all().catch((error: unknown) => error)).toBeInstanceOf(OverflowError);
  const texts = piped();
  texts.send({ jsonrpc: '2.0', id: 1, method: 'x', params: [',[{"\\'.repeat(300_000)] });
  texts.from.end();
  expect(await texts.all()).toHaveLength(1);
});

it('does not break off the pipe of an agent that is too loud, for what is still in it would be lost', async () => {
  const cancelled: unknown[] = [];
  let pulls = 0;
  const input = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulls += 1;
      if (pulls === 1) controller.enqueue(Buffer.from('['.repeat(200_001)));
      else if (pulls < 10) controller.enqueue(Buffer.from('more'));
      else controller.close();
    },
    cancel: (reason) => void cancelled.push(reason),
  });
  const { readable } = new AgentStream(new WritableStream(), input, () => undefined);
  expect(
    await readable
      .getReader()
      .read()
      .catch((error: unknown) => error),
  ).toBeInstanceOf(OverflowError);
  await eventually('the end of the pipe', () => pulls === 10);
  expect(cancelled).toEqual([]);
});
