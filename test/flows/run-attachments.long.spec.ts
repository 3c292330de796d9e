/**
 * Files that come with a create or a follow-up: they reach the execution that takes them, whole, under their names, and
 * no other place. contract §3.2 (Create), §3.8 (Follow-up).
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, outputOf, pointersOf, SHELL, startedRun, wroteWord } from '../support/runs/runs.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await bootService({ environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '3' } });
});

afterAll(() => service.stop());

/** Prints every attachment with its digest. */
const LIST = 'cd "$MILLWRIGHT_ATTACHMENTS" && for f in *; do [ -e "$f" ] && sha256sum "$f"; done; exit 0';

interface File {
  file_name: string;
  mime_type: string;
  data: string;
}

const file = (name: string, content: string | Uint8Array): File => ({
  file_name: name,
  mime_type: 'application/octet-stream',
  data: Buffer.from(content).toString('base64'),
});
const listed = (files: Record<string, string | Uint8Array>): string =>
  Object.entries(files)
    .map(([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`)
    .sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1))
    .join('');

async function ended(runId: string): Promise<string> {
  await runIn(service, runId, ...ENDED);
  return outputOf(service, runId);
}

const followUp = (runId: string, body: unknown): Promise<ApiAnswer> =>
  service.api('POST', `/agent/runs/${runId}/followups`, body);

describe('files of a create', () => {
  it('are in the workspace, byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
    const runId = await startedRun(service, LIST, {
      attachments: [file('all-bytes.bin', bytes), file('empty', ''), file('notes.txt', 'zwölf')],
    });
    expect(await ended(runId)).toBe(listed({ 'all-bytes.bin': bytes, empty: '', 'notes.txt': 'zwölf' }));
  });

  it('that older clients send as images have names', async () => {
    const runId = await startedRun(service, LIST, {
      images: [
        { mime_type: 'image/png', data: 'AAEC' },
        { mime_type: 'image/jpeg', data: 'AwQ=' },
      ],
      attachments: [file('a', 'x')],
    });
    expect(await ended(runId)).toBe(
      listed({ a: 'x', 'image-1.png': Uint8Array.from([0, 1, 2]), 'image-2.jpg': Uint8Array.from([3, 4]) }),
    );
  });

  it.each([
    ['../escape'],
    ['/etc/passwd'],
    ['..'],
    ['.bashrc'],
    ['a/b'],
    ['a\\b'],
    ['prompt.md'],
    ['EVENT-payload.json'],
    ['a\nb'],
    [''],
    ['x'.repeat(129)],
  ])('called %j are refused, and nothing is made', async (name) => {
    const answer = await service.api('POST', '/agent/runs', { prompt: 'x', attachments: [file(name, 'x')] });
    expect(answer.status).toBe(400);
    expect(pointersOf(answer)).toEqual(['/attachments/0/file_name']);
  });

  it.each([
    {
      more: { attachments: [file('a', 'x'), file('A', 'y')] },
      pointers: ['/attachments/1/file_name'],
      why: 'names that differ in case only',
    },
    {
      more: { attachments: Array.from({ length: 6 }, (_, n) => file(`f${n}`, 'x')) },
      pointers: ['/attachments'],
      why: 'six of them',
    },
    {
      more: { attachments: [{ ...file('a', 'x'), data: 'eA' }] },
      pointers: ['/attachments/0/data'],
      why: 'base64 without padding',
    },
    {
      more: { attachments: [{ file_name: 'a', data: '' }] },
      pointers: ['/attachments/0/mime_type'],
      why: 'no media type',
    },
    {
      more: { attachments: [{ ...file('a', 'x'), mime_type: 'text/plain; charset=utf-8' }] },
      pointers: ['/attachments/0/mime_type'],
      why: 'a media type with parameters',
    },
    { more: { attachments: 'a' }, pointers: ['/attachments'], why: 'no list' },
  ])('are refused: $why', async ({ more, pointers }) => {
    const answer = await service.api('POST', '/agent/runs', { prompt: 'x', ...more });
    expect(answer.status).toBe(400);
    expect(pointersOf(answer)).toEqual(pointers);
  });

  it('wait for their execution across a restart', async () => {
    const first = await bootService({ environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    const runId = await startedRun(first, LIST, { attachments: [file('kept', 'x')] });
    await first.api('POST', `/agent/runs/${runId}/followups`, {
      message: '# joined',
      attachments: [file('joined', 'y'), file('kept', 'z')],
    });
    await first.stop({ keepData: true });
    const second = await bootService({
      dataDir: first.dataDir,
      environment: { ...SHELL, MILLWRIGHT_ADMIN_KEY: first.adminKey },
    });
    await runIn(second, runId, ...ENDED);
    expect(await outputOf(second, runId)).toBe(listed({ joined: 'y', kept: 'x', 'kept-2': 'z' }));
    await second.stop();
  });
});

describe('the size of a body', () => {
  const MIB = 1_048_576;

  const post = async (path: string, body: string): Promise<number> => {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      body,
    });
    await answer.text();
    return answer.status;
  };
  /** A body of exactly so many bytes; what base64 cannot fill is space. */
  const withFile = (size: number, message: string): string => {
    const [before, after] = [
      `{"${message}": "exit 0", "attachments": [{"file_name": "large", "mime_type": "a/b", "data": "`,
      '"}]}',
    ];
    const room = size - before.length - after.length;
    return before + 'A'.repeat(room - (room % 4)) + after + ' '.repeat(room % 4);
  };
  const withText = (size: number, before: string): string => `${before}${'#'.repeat(size - before.length - 2)}"}`;

  it('is 8 MiB with files and not a byte more, for creates and follow-ups', async () => {
    const runId = await startedRun(service, 'sleep 1');
    for (const [path, message] of [
      ['/agent/runs', 'prompt'],
      ['/agent/run', 'prompt'],
      [`/agent/runs/${runId}/followups`, 'message'],
    ] as const) {
      expect(await post(path, withFile(8 * MIB, message))).toBe(200);
      expect(await post(path, withFile(8 * MIB + 1, message))).toBe(413);
    }
  });

  it('is 1 MiB without files, and with an empty list of them', async () => {
    for (const before of ['{"prompt": "', '{"attachments": [], "prompt": "', '{"images": [], "prompt": "']) {
      expect(await post('/agent/runs', withText(MIB, before))).toBe(200);
      expect(await post('/agent/runs', withText(MIB + 1, before))).toBe(413);
    }
  });
});

describe('files of a follow-up', () => {
  it('reach the execution that takes them, beside those of before, which keep their place', async () => {
    const runId = await startedRun(service, LIST, { attachments: [file('log.txt', 'first'), file('other', 'o')] });
    await ended(runId);
    const answer = await followUp(runId, {
      message: LIST,
      attachments: [file('log.txt', 'second'), file('LOG-2.txt', 'third')],
    });
    expect(answer.body).toEqual({ followup_id: expect.any(String), outcome: 'handoff_execution' });
    await wroteWord(service, runId, 'log-2.txt');
    await runIn(service, runId, 'SUCCEEDED');
    expect(await outputOf(service, runId)).toBe(
      listed({ 'log.txt': 'first', other: 'o' }) +
        listed({ 'LOG-2-2.txt': 'third', 'log-2.txt': 'second', 'log.txt': 'first', other: 'o' }),
    );
  });

  it('of two at once stay apart, and both are there', async () => {
    const runId = await startedRun(service, 'echo begun; sleep 1');
    await wroteWord(service, runId, 'begun');
    const answers = await Promise.all(
      ['one', 'two'].map((content) => followUp(runId, { message: LIST, attachments: [file('same', content)] })),
    );
    expect(answers.map(({ status, body }) => [status, body['outcome']])).toEqual([
      [200, 'queue_pending'],
      [200, 'queue_pending'],
    ]);
    await wroteWord(service, runId, 'same-2');
    await runIn(service, runId, 'SUCCEEDED');
    const digests = [...(await outputOf(service, runId)).matchAll(/^(\w{64}) {2}same(?:-2)?$/gm)].map(
      ([, digest]) => digest,
    );
    expect(new Set(digests)).toEqual(
      new Set(['one', 'two'].map((content) => createHash('sha256').update(content).digest('hex'))),
    );
  });

  it('are not written where an agent has put a link', async () => {
    const runId = await startedRun(
      service,
      'mkdir "$HOME/outside" && rm -rf attachments && ln -s "$HOME/outside" attachments; exit 0',
    );
    await ended(runId);
    await followUp(runId, { message: 'ls attachments; ls "$HOME/outside"', attachments: [file('planted', 'x')] });
    await wroteWord(service, runId, 'planted');
    await runIn(service, runId, 'SUCCEEDED');
    expect(await outputOf(service, runId)).toBe('planted\n');
  });

  it('that are refused leave nothing behind', async () => {
    const runId = await startedRun(service, 'exit 0');
    await ended(runId);
    for (const attachments of [
      [file('../x', 'x')],
      [{ file_name: 'x' }],
      Array.from({ length: 26 }, (_, n) => file(`f${n}`, 'x')),
    ]) {
      expect((await followUp(runId, { message: 'x', attachments })).status).toBe(400);
    }
    expect((await followUp(runId, { message: 'x', mode: 'fast' })).status).toBe(400);
    expect((await service.api('GET', `/agent/runs/${runId}`)).body['state']).toBe('SUCCEEDED');
  });

  it('are bounded for a run in all', async () => {
    const waiting = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    const runId = await startedRun(waiting, 'x');
    const more = (): Promise<ApiAnswer> =>
      waiting.api('POST', `/agent/runs/${runId}/followups`, {
        message: 'x',
        attachments: Array.from({ length: 5 }, (_, n) => file(`f${n}`, 'x')),
      });
    for (let n = 0; n < 20; n += 1) expect((await more()).status).toBe(200);
    const refused = await more();
    expect(refused.status).toBe(400);
    expect(pointersOf(refused)).toEqual(['/attachments']);
    expect((await waiting.api('POST', `/agent/runs/${runId}/followups`, { message: 'still heard' })).status).toBe(200);
    await waiting.stop();
  });
});

it('files lie in the workspace of their run, read-only, and nowhere else', async () => {
  const runId = await startedRun(service, 'exit 0', { attachments: [file('only-here', 'unmistakable-content')] });
  await ended(runId);
  const found = (await readdir(join(service.dataDir, 'runs'), { recursive: true })).filter((path) =>
    path.endsWith('only-here'),
  );
  expect(found).toEqual([join(runId, 'inputs', 'attachments', 'only-here')]);
  expect(await readFile(join(service.dataDir, 'runs', String(found[0])), 'utf8')).toBe('unmistakable-content');
  expect(service.logged.join('')).not.toContain('unmistakable-content');
});
