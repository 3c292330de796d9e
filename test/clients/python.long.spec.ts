/**
 * The Python client has its own tests; here its one command is run, on a service of its own. What else it can do
 * (`--all`) takes other interpreters and tools.
 */
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('../../libs/client-python/test.py', import.meta.url));
const INSTALLS_WITHIN_MS = 300_000;
const ENDS_WITHIN_MS = 300_000;
const LAST_LINES = 60;

const missing = whatIsMissing();
if (missing !== undefined) process.stderr.write(`millwright: the tests of the Python client are SKIPPED: ${missing}\n`);

(missing === undefined ? describe : describe.skip)(
  `Python client${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it(
      'passes its own tests',
      async () => {
        const { code, output } = await run(['-p', 'no:cacheprovider']);
        expect({ code, output: code === 0 ? '' : output.split('\n').slice(-LAST_LINES).join('\n') }).toEqual({
          code: 0,
          output: '',
        });
        expect(output).toMatch(/\nok {3}pytest on Python [\d.]+: [1-9]\d* passed, 0 failed/);
      },
      ENDS_WITHIN_MS,
    );
  },
);

/**
 * Why the tests cannot run on this machine; undefined where they can, and where they must (REQUIRE_PYTHON_CLIENT=1).
 */
function whatIsMissing(): string | undefined {
  if (process.env['REQUIRE_PYTHON_CLIENT'] === '1') return undefined;
  const { error, stdout, signal } = spawnSync('python3', [TESTS, '--prepare'], {
    encoding: 'utf8',
    timeout: INSTALLS_WITHIN_MS,
  });
  if (error !== undefined && signal === null) return 'there is no python3';
  return /^SKIPPED: .*missing is (.+)$/m.exec(stdout)?.[1];
}

/** Exit code, and what the command wrote. */
function run(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn('python3', [TESTS, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
