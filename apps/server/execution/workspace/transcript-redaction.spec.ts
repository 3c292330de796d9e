/** Transcripts are left without secrets, and nothing that a run puts in their place leads elsewhere. contract §10. */
import { linkSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redactTranscripts } from './transcript-redaction.ts';

const SECRET = 'sk-4711/"quoted"+value';
const NAMES = ['1', '2', '3', '4'].map((digit) => `${digit.repeat(8)}-0000-7000-8000-000000000000.jsonl`);
const line = (entry: unknown): string => `${JSON.stringify(entry)}\n`;

let root: string;
let folder: string;
const redacted = (): Promise<void> => redactTranscripts({ home: join(root, 'home') }, [SECRET]);
const textOf = (path: string): string => readFileSync(path, 'utf8');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'transcripts-'));
  folder = join(root, 'home/.millwright-agent');
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

it('takes a secret out of every text, and leaves lines that can be read', async () => {
  const [name = ''] = NAMES;
  const call = {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'bash',
    input: { [`x ${SECRET}`]: [`echo ${SECRET}`] },
  };
  const signed = (text: string): unknown => ({
    type: 'reasoning',
    text,
    providerOptions: { anthropic: { signature: 's' } },
  });
  writeFileSync(
    join(folder, name),
    line({ kind: 'session', version: 1 }) +
      line({
        kind: 'message',
        message: { role: 'assistant', content: [signed('Hm.'), signed(`It is ${SECRET}`), call] },
      }) +
      line({ kind: 'message', message: { role: 'assistant', content: [signed(SECRET)] } }) +
      line({ kind: 'message', message: { role: 'user', content: Buffer.from(SECRET).toString('hex') } }) +
      `torn ${SECRET}`,
    { mode: 0o600 },
  );
  await redacted();
  const lines = textOf(join(folder, name)).split('\n');
  expect(lines.pop()).toBe('torn [redacted]');
  expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual([
    { kind: 'session', version: 1 },
    {
      kind: 'message',
      message: {
        role: 'assistant',
        content: [signed('Hm.'), { ...call, input: { 'x [redacted]': ['echo [redacted]'] } }],
      },
    },
    { kind: 'message', message: { role: 'assistant', content: [{ type: 'text', text: '[redacted]' }] } },
    { kind: 'message', message: { role: 'user', content: '[redacted]' } },
  ]);
  expect(lstatSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

it('writes through no link, and leaves no link to what others have', async () => {
  const [link = '', hard = '', fifo = '', kept = ''] = NAMES;
  const others = join(root, 'of-others');
  writeFileSync(others, `not the run's: ${SECRET}`);
  symlinkSync(others, join(folder, link));
  linkSync(others, join(folder, hard));
  mkdirSync(join(folder, fifo)); // not even a file
  writeFileSync(join(folder, 'notes.txt'), SECRET); // a file of the run's own, like any in its workspace
  symlinkSync(others, join(folder, `${kept}.redacted`)); // where the redacted one is written
  writeFileSync(join(folder, kept), line({ text: SECRET }));
  await redacted();
  expect(textOf(others)).toBe(`not the run's: ${SECRET}`);
  expect([link, hard].map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }))).toEqual([
    undefined,
    undefined,
  ]);
  expect([textOf(join(folder, kept)), textOf(join(folder, 'notes.txt'))]).toEqual([
    line({ text: '[redacted]' }),
    SECRET,
  ]);
});

it('follows no link in place of the folder, and asks nothing of a run without secrets', async () => {
  const elsewhere = join(root, 'elsewhere');
  const [name = ''] = NAMES;
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, name), SECRET);
  rmSync(folder, { recursive: true });
  symlinkSync(elsewhere, folder);
  await redacted();
  await redactTranscripts({ home: join(root, 'nowhere') }, [SECRET]);
  expect(textOf(join(elsewhere, name))).toBe(SECRET);
});
