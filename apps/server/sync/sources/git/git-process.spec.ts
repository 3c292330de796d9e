/** What one git process may take, and what becomes of the one that takes more. */
import { FETCH_BYTES_MAX, PROCESS_MEMORY_BYTES_MAX, runGit, type GitCommand } from './git-process.ts';

function run(script: string, change: Partial<GitCommand> = {}): ReturnType<typeof runGit> {
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  return runGit({
    args: ['-c', `alias.x=!${script}`, 'x'],
    environment,
    workingFolder: '/',
    signals: [],
    timeoutMs: 20_000,
    outputBytesMax: 10_000,
    ...change,
  });
}

const words = async (output: ReturnType<typeof runGit>): Promise<string[]> =>
  (await output).stdout.toString('utf8').trim().split('\n');

describe('a git process and its helpers', () => {
  it('may write, and hold in memory, so much and no more, and leave no core file', async () => {
    const [core, file, memory] = await words(run('ulimit -c; ulimit -f; ulimit -v'));
    expect([core, Number(file) * 512]).toEqual(['0', FETCH_BYTES_MAX]);
    // Some systems know no limit of the address space.
    expect(['unlimited', String(PROCESS_MEMORY_BYTES_MAX / 1024)]).toContain(memory);
  });

  it('say that a file is too large and go on living', async () => {
    const output = await run('f=$(mktemp); head -c 100000 /dev/zero > $f; echo "exit $?"; wc -c < $f; rm $f', {
      fileBytesMax: 4096,
    });
    expect(await words(Promise.resolve(output))).toEqual(['exit 1', '4096']);
    expect(output.stderr).toMatch(/File too large/);
  });

  it('get their arguments as they are', async () => {
    const output = await run('printf "%s|"', {
      args: ['-c', 'alias.x=!printf "%s|"', 'x', "it's", '$(id)', '', '-n', 'a b\nc'],
    });
    expect(output.stdout.toString()).toBe("it's|$(id)||-n|a b\nc|");
  });

  it('that say more than is read are ended, and nothing of it is kept', async () => {
    const output = await run('yes');
    expect([output.ended, output.stdout.length]).toEqual(['overflow', 0]);
  });
});
