/**
 * A thousand clients that do not read their answers hold one copy of a file. contract §5.11 (Connections without a
 * key).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StaticFiles } from './static-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'millwright-static-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What is sent for each of some requests. */
async function sent(files: StaticFiles, acceptEncoding: string, count: number): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  const reply = {
    headers: () => reply,
    status: () => reply,
    send: async (body: Buffer) => void bodies.push(body),
  };
  const file = files.file('large.js');
  if (file === undefined) throw new Error('the file is not there');
  for (let asked = 0; asked < count; asked += 1)
    await files.send(file, {
      request: { headers: { 'accept-encoding': acceptEncoding } } as unknown as FastifyRequest,
      reply: reply as unknown as FastifyReply,
      headers: {},
    });
  return bodies;
}

it.each([{ encoding: 'identity' }, { encoding: 'br' }, { encoding: 'gzip' }])(
  'answers of the same file share their memory ($encoding)',
  async ({ encoding }) => {
    writeFileSync(join(folder, 'large.js'), 'let heron = "grey";\n'.repeat(10_000));
    const bodies = await sent(new StaticFiles(folder), encoding, 3);
    expect(new Set(bodies.map(({ buffer }) => buffer)).size).toBe(1);
    expect(new Set(bodies.map(({ byteOffset }) => byteOffset)).size).toBe(1);
  },
);
