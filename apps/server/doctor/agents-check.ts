/**
 * Which coding agents runs can name here, and whether the one that comes with the service starts. explanation: Coding
 * agents.
 */
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { agentAvailability, LAUNCH_PROFILES } from '#agents';
import { agentsHere, checkReferences, readDefinitions } from '#definitions';
import type { CommandEnd } from '#runs';
import { ConfigError } from '../config/config.ts';
import { startCommand } from '../execution/command/command.ts';
import { serverAgent } from '../execution/preparation/execution-spec.ts';
import { readProfiles } from '../execution/agent/profile-file.ts';
import { agentsFound } from '../execution/agent/profiles.ts';
import { ownerOf, type Sandbox } from '../execution/sandbox/sandboxes.ts';
import { removeEntry } from '../execution/workspace/folder-trees.ts';
import { prepareWorkspace } from '../execution/workspace/workspaces.ts';
import { STANDARD_PATH } from '../process/program.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, warning, type Remark } from './findings.ts';

const START_MS_MAX = 20_000;
/** Lines that are repeated of what the agent says about its settings. */
const LINES_MAX = 20;
const SAID_LENGTH_MAX = 100_000;
/** Any UUID: the folders of the trial are its own. */
const RUN_ID = '00000000-0000-7000-8000-000000000000';

export async function agents(patient: DoctorTarget): Promise<Remark[]> {
  const { config } = patient;
  const { profiles, faults } = await known(config.agentProfilesFile);
  const found = await agentsFound(profiles, config.searchPath);
  return [
    ok(`runs that name no harness get "${serverAgent(config).harness}"`),
    ...(await builtIn(patient)),
    ...(config.runCommand === undefined ? [] : [ok('command is the command of MILLWRIGHT_RUN_COMMAND')]),
    ...faults,
    ...found.map(({ id, path, install }) =>
      ok(
        path === undefined
          ? `${id} is not installed; runs that name it need: ${install}`
          : `${id} is installed: ${path}`,
      ),
    ),
  ];
}

/** What files name and no run can have on this machine: told before the first run fails with it. contract §8.4. */
export async function definitions({ config, tree }: DoctorTarget): Promise<Remark[]> {
  if (tree === undefined) return [];
  const { profiles } = await known(config.agentProfilesFile);
  const found = await agentsFound(profiles, config.searchPath);
  const available = agentsHere(agentAvailability(found, serverAgent(config)));
  const { problems } = checkReferences(readDefinitions(tree), { agentsHere: available });
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const missing = problems.filter(({ rule }) => UNAVAILABLE.has(rule));
  const invalid = `${errors} ${errors === 1 ? 'error' : 'errors'} in the definition files`;
  return [
    ...(errors > 0 ? [warning(invalid, 'millwright validate tells of each; what is wrong is not looked at here')] : []),
    ...missing
      .slice(0, LINES_MAX)
      .map(({ path, line, message }) =>
        warning(`${path}:${line}: ${message}`, 'mend it before a run of it fails, or configure what it names'),
      ),
    ...(missing.length > LINES_MAX ? [warning(`${missing.length - LINES_MAX} more of these`, 'mend those first')] : []),
    ...(missing.length + errors === 0
      ? [ok('every harness and model that the definitions name is to be had here')]
      : []),
  ];
}

const UNAVAILABLE: ReadonlySet<string> = new Set(['harness-missing', 'model-missing']);

async function known(
  file: string | undefined,
): Promise<{ profiles: Awaited<ReturnType<typeof readProfiles>>; faults: Remark[] }> {
  try {
    return { profiles: await readProfiles(file), faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      profiles: LAUNCH_PROFILES,
      faults: error.faults.map(({ variable, rule }) =>
        problem(`${variable}: ${rule}`, 'mend the file; `millwright start` refuses it too'),
      ),
    };
  }
}

/** Started as runs start it, with its own settings and an empty input, it says what is wrong with them, and ends. */
async function builtIn(patient: DoctorTarget): Promise<Remark[]> {
  const sandbox = await patient.sandbox;
  const inside = await startedInside(sandbox, patient);
  if (inside.fault !== undefined) return [await notStarted(inside.fault, sandbox, patient)];
  const lines = inside.said.split('\n').flatMap((line) => /^millwright-agent: (.+)$/.exec(line)?.[1] ?? []);
  if (lines.length === 0) return [ok(`builtin: the built-in agent starts, as runs start it (${sandbox.kind})`)];
  return lines
    .slice(0, LINES_MAX)
    .map((line) => problem(line, 'mend or unset it: every run of the built-in agent fails with it'));
}

/** Whether the agent itself or its walls are in the way. */
async function notStarted(
  fault: string,
  sandbox: Sandbox,
  { builtInAgent: { command }, config }: DoctorTarget,
): Promise<Remark> {
  const code = await endOf(command, { PATH: STANDARD_PATH, ...config.agentEnvironment });
  if (code !== 0)
    return problem(
      `the built-in agent does not start (${code ?? 'it did not end'})`,
      'install the service anew (npm ci, and a build); `millwright start` names it as "builtin"',
    );
  return problem(
    `the built-in agent does not start inside the sandbox (${sandbox.kind}: ${fault}), so that every run of it fails`,
    'install the service in a folder of its own that every user may read, neither around nor inside the data ' +
      'folder, nor in a folder of the root such as /opt itself',
  );
}

/**
 * One start in a folder that is gone afterwards; the data folder is hidden from it, as from runs. `fault`: why it did
 * not end well.
 */
async function startedInside(
  found: Sandbox,
  { builtInAgent, config }: DoctorTarget,
): Promise<{ said: string; fault?: string }> {
  const base = await mkdtemp(join(tmpdir(), 'millwright-doctor-'));
  try {
    const hidden = [config.dataDir, config.masterKeyFile, config.uidKeyFile, config.tls?.keyFile]
      .filter((path) => path !== undefined)
      .map((path) => resolve(path));
    const workspace = await prepareWorkspace({
      root: join(base, 'runs'),
      runId: RUN_ID,
      epoch: 1,
      owner: ownerOf(found, RUN_ID),
    });
    let said = '';
    const command = await startCommand({
      command: builtInAgent.command,
      readOnly: builtInAgent.readOnly,
      harnessEnv: config.agentEnvironment,
      workspace,
      sandbox: { ...found, hidden: [...found.hidden, ...hidden] },
      prompt: '',
      deadlineMs: START_MS_MAX,
      onEvent: ({ text }) => (said = `${said}${text}`.slice(0, SAID_LENGTH_MAX)),
    });
    const end = await command.finished;
    return end.kind === 'exited' && end.code === 0 ? { said } : { said, fault: faultOf(end) };
  } catch (error) {
    return { said: '', fault: (error as NodeJS.ErrnoException).code ?? 'its folders cannot be shown' };
  } finally {
    await removeEntry(base);
  }
}

/** Nothing that was printed: it may repeat a setting. */
function faultOf(end: CommandEnd): string {
  if (end.kind === 'exited') return `exit code ${end.code}`;
  return end.kind === 'deadline' ? 'it did not end' : end.kind;
}

function endOf(
  [program = '', ...argv]: readonly string[],
  environment: Record<string, string>,
): Promise<number | undefined> {
  return new Promise((done) => {
    const child = spawn(program, argv, {
      env: environment,
      cwd: '/',
      stdio: 'ignore',
      timeout: START_MS_MAX,
      killSignal: 'SIGKILL',
    });
    child.once('error', () => done(undefined));
    child.once('close', (code) => done(code ?? undefined));
  });
}
