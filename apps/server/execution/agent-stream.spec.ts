/** What gets through from an agent: answers to our questions, its questions, and updates of a shape; nothing is printed, whatever it sends. */
import { jest } from '@jest/globals';
import { PassThrough, Readable, Writable } from 'node:stream';
import { agentStream } from './agent-stream.ts';

it('hands updates on, drops what nobody asked for, and prints nothing', async () => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const [from, to] = [new PassThrough(), new PassThrough()];
  const updates: unknown[] = [];
  const stream = agentStream(Writable.toWeb(to) as WritableStream<Uint8Array>, Readable.toWeb(from) as ReadableStream<Uint8Array>, (update) => {
    const { content } = update.update as { content: { text: string } };
    updates.push(content.text.toUpperCase()); // throws for shapes that are none
  });
  const writer = stream.writable.getWriter();
  void writer.write({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
  const send = (message: unknown): boolean => from.write(`${JSON.stringify(message)}\n`);
  const update = (params: unknown): boolean => send({ jsonrpc: '2.0', method: 'session/update', params });
  for (const params of [undefined, null, 5, {}, { sessionId: 's' }, { sessionId: 5, update: { sessionUpdate: 'agent_message_chunk' } }, { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: null } }]) update(params);
  update({ sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'heard' } } });
  send({ jsonrpc: '2.0', id: 99, result: 'nobody asked' });
  send({ jsonrpc: '2.0', id: 1, result: 'asked' });
  send({ jsonrpc: '2.0', id: 1, result: 'answered already' });
  send({ jsonrpc: '2.0', id: 7, method: 'session/update', params: {} });
  from.end();
  const messages: unknown[] = [];
  for await (const message of stream.readable as unknown as AsyncIterable<unknown>) messages.push(message);
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: 'asked' }, expect.objectContaining({ id: 7, method: 'session/update' })]);
  expect(updates).toEqual(['HEARD']);
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});
