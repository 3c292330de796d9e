/** What is written down as a fault of the service, and what is only an answer for nobody. */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Log } from '../process/log.ts';
import { RefusalError } from './error-codes.ts';
import { ClientGoneError } from './connections.ts';
import { ProblemFilter } from './problem-filter.ts';
import { beginRecord, recordOf } from './requests.ts';

function answered(error: unknown): { status: number; lines: unknown[]; code: string | undefined } {
  const lines: unknown[] = [];
  const raw = { headers: {}, complete: true } as IncomingMessage;
  beginRecord(raw, '192.0.2.1');
  let status = 0;
  const reply = { status: (given: number) => ((status = given), reply), headers: () => reply, send: () => reply };
  const filter = new ProblemFilter(
    'http://mill.example',
    new Log(
      (line) => void lines.push(JSON.parse(line)),
      () => 0,
    ),
  );
  filter.answer(error, { raw, url: '/api/v1/x', method: 'POST' } as FastifyRequest, reply as unknown as FastifyReply);
  return { status, lines, code: recordOf(raw).error };
}

it.each([
  ['a client that left', new ClientGoneError(), 503, 0],
  ['something that is away', new RefusalError('resource_unavailable', 'not now'), 503, 1],
  ['a fault', new Error('broken'), 500, 1],
  ['a refusal', new RefusalError('invalid_request', 'no'), 400, 0],
])('of %s', (_what, error, status, faults) => {
  const answer = answered(error);
  expect([answer.status, answer.lines.length]).toEqual([status, faults]);
  expect(answer.code).toEqual(expect.any(String));
});
