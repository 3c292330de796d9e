/**
 * An operator's file of agents that cannot be used: the service does not start, and says everything that is wrong at
 * once. contract §1, §11.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { start } from '../../apps/server/start.ts';
import { bootService, eventually } from '../support/services/service.ts';
import { ENDED, startedRun } from '../support/runs/runs.ts';

const KEY = 'sk-a-key-in-the-wrong-place';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-profiles-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const written = async (content: unknown): Promise<string> => {
  const file = join(folder, 'agents.json');
  await writeFile(file, JSON.stringify(content));
  return file;
};

it('start ends with 64, every fault on a line of its own and no value in any', async () => {
  const file = await written({
    profiles: [
      { id: 'house', env: { PATH: KEY } },
      { id: 'codex', envFiles: { OPENAI_API_KEY: join(folder, 'nowhere') } },
    ],
  });
  let told = '';
  const stderr = new Writable({ write: (chunk: Buffer, _encoding, done) => ((told += chunk.toString()), done()) });
  const environment = {
    PATH: process.env['PATH'],
    MILLWRIGHT_DATA_DIR: join(folder, 'data'),
    MILLWRIGHT_AGENT_PROFILES_FILE: file,
  };
  expect(await start([], { environment, cwd: folder, stdout: stderr, stderr })).toBe(64);
  expect(told.trim().split('\n').sort()).toEqual([
    'millwright: MILLWRIGHT_AGENT_PROFILES_FILE: profiles[0] (house): PATH: this variable is set by the service ' +
      'for each run',
    'millwright: MILLWRIGHT_AGENT_PROFILES_FILE: profiles[0] (house): command: an agent that is not built in ' +
      'needs its program and arguments',
    'millwright: MILLWRIGHT_AGENT_PROFILES_FILE: profiles[0] (house): modelVia: an agent that is not built in ' +
      'needs one: option, {flag: …} or {env: …}',
    'millwright: MILLWRIGHT_AGENT_PROFILES_FILE: profiles[1] (codex): envFiles.OPENAI_API_KEY: the file cannot ' +
      'be read (ENOENT)',
  ]);
  expect(told).not.toContain(KEY);
});

it('an agent of the file can be named, and one that nobody knows is told of with those that there are', async () => {
  const file = await written({
    profiles: [{ id: 'house', command: ['no-such-agent'], modelVia: 'option', install: 'make house' }],
  });
  const service = await bootService({ environment: { MILLWRIGHT_AGENT_PROFILES_FILE: file } });
  const messageOf = async (type: string): Promise<string> => {
    const runId = await startedRun(service, 'x', { config: { harness: { type } } });
    const item = await eventually('it fails', async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return ENDED.includes(String(body['state'])) ? body : undefined;
    });
    expect(item).toMatchObject({ state: 'FAILED', status_message: { error_code: 'environment_setup_failed' } });
    return (item['status_message'] as { message: string }).message;
  };
  try {
    expect(await messageOf('house')).toBe(
      'the agent house is not installed: the machine of this service has no program "no-such-agent"; install it ' +
        'there with: make house',
    );
    expect(await messageOf('mouse')).toBe(
      'there is no harness "mouse" here; choose one of builtin, command, opencode, gemini, codex, claude, qwen, ' +
        'house, or leave it out; the operator of this service can add it (MILLWRIGHT_AGENT_PROFILES_FILE)',
    );
  } finally {
    await service.stop();
  }
}, 120_000);
