/** Transcripts of an execution that was lost are redacted by whoever finds them. contract §10.2. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Vault } from '../../secrets/vault.ts';
import { TranscriptSecrets } from './transcript-secrets.ts';

const SECRET = 'sk-4711/"quoted"+value';
const TRANSCRIPT = '11111111-0000-7000-8000-000000000000.jsonl';
const vault = new Vault(randomBytes(32));

let root: string;
const workspace = (epoch = 1) => ({ runId: 'r1', epoch, folder: root, home: join(root, 'home') });
const transcript = (): string => join(root, 'home/.millwright-agent', TRANSCRIPT);
const note = (): string => join(root, 'transcript-secrets');
const write = (text: string): void => writeFileSync(transcript(), `${JSON.stringify({ text })}\n`);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'transcript-secrets-'));
  mkdirSync(join(root, 'home/.millwright-agent'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

it('what was sealed before the crash is taken out after it, by a process that knows nothing else', async () => {
  await new TranscriptSecrets(vault).begin(workspace(), [SECRET]);
  write(`it is ${SECRET}`);
  expect(readFileSync(note(), 'utf8')).not.toContain('4711');
  expect(statSync(note()).mode & 0o777).toBe(0o600);
  expect(await new TranscriptSecrets(vault).redactLeft(workspace(0))).toBe(true);
  expect(readFileSync(transcript(), 'utf8')).toBe('{"text":"it is [redacted]"}\n');
  expect(readdirSync(root)).toEqual(['home']);
  expect(await new TranscriptSecrets(vault).redactLeft(workspace())).toBe(false);
});

it('the next execution takes out what the lost one had, also where its own secrets are others', async () => {
  const transcripts = new TranscriptSecrets(vault);
  await transcripts.begin(workspace(1), [SECRET]);
  write(`it is ${SECRET}`);
  await transcripts.begin(workspace(2), ['another-secret']);
  expect(readFileSync(transcript(), 'utf8')).toContain('[redacted]');
  write('and another-secret');
  await transcripts.redactLeft(workspace());
  expect(readFileSync(transcript(), 'utf8')).toBe('{"text":"and [redacted]"}\n');
});

it.each(['sealed under another key', 'torn', 'of another run'])(
  'a note that is %s: the transcript goes, and its conversation is told anew',
  async (why) => {
    const own = why === 'sealed under another key' ? new Vault(randomBytes(32)) : vault;
    await new TranscriptSecrets(own).begin(workspace(), [SECRET]);
    if (why === 'torn') writeFileSync(note(), '{"epoch":1,"wrapp');
    write(`it is ${SECRET}`);
    await new TranscriptSecrets(vault).redactLeft({ ...workspace(), runId: why === 'of another run' ? 'r2' : 'r1' });
    expect([existsSync(transcript()), existsSync(note())]).toEqual([false, false]);
  },
);

it('an execution that ends in order leaves no note, and one without secrets makes none', async () => {
  const transcripts = new TranscriptSecrets(vault);
  await transcripts.begin(workspace(), [SECRET]);
  write(`it is ${SECRET}`);
  await transcripts.end(workspace(), [SECRET]);
  expect([readFileSync(transcript(), 'utf8'), existsSync(note())]).toEqual(['{"text":"it is [redacted]"}\n', false]);
  await transcripts.begin(workspace(), []);
  expect(existsSync(note())).toBe(false);
});
