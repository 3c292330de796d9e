/** Which coding agents runs can name here, and whether the one that comes with the service starts. reference: Running real coding agents. */
import { spawn } from 'node:child_process';
import { LAUNCH_PROFILES } from '#runs';
import { ConfigFaults } from '../config.ts';
import { serverAgent } from '../execution/outfits.ts';
import { readProfiles } from '../execution/profile-file.ts';
import { agentsFound } from '../execution/profiles.ts';
import { STANDARD_PATH } from '../execution/sandboxes.ts';
import type { Patient } from './examine.ts';
import { ok, problem, type Remark } from './findings.ts';

const START_MS_MAX = 20_000;
/** Lines that are repeated of what the agent says about its settings. */
const LINES_MAX = 20;

export async function agents(patient: Patient): Promise<Remark[]> {
  const { config } = patient;
  const { profiles, faults } = await known(config.agentProfilesFile);
  const found = await agentsFound(profiles, config.searchPath);
  return [
    ok(`runs that name no harness get "${serverAgent(config).harness}"`),
    ...(await builtIn(patient)),
    ...faults,
    ...found.map(({ id, path, install }) => ok(path === undefined ? `${id} is not installed; runs that name it need: ${install}` : `${id} is installed: ${path}`)),
  ];
}

async function known(file: string | undefined): Promise<{ profiles: Awaited<ReturnType<typeof readProfiles>>; faults: Remark[] }> {
  try {
    return { profiles: await readProfiles(file), faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigFaults)) throw error;
    return { profiles: LAUNCH_PROFILES, faults: error.faults.map(({ variable, rule }) => problem(`${variable}: ${rule}`, 'mend the file; `millwright start` refuses it too')) };
  }
}

/** Started with its own settings and an empty input, it says what is wrong with them, and ends. */
async function builtIn({ builtInAgent: { command }, config }: Patient): Promise<Remark[]> {
  const { code, said } = await ended(command, { PATH: STANDARD_PATH, ...config.agentEnvironment });
  const lines = said.split('\n').flatMap((line) => /^millwright-agent: (.+)$/.exec(line)?.[1] ?? []);
  if (code !== 0) return [problem(`the built-in agent does not start (${code ?? 'it did not end'})`, 'install the service anew (npm ci, and a build); `millwright start` names it as "builtin"')];
  if (lines.length === 0) return [ok('the built-in agent starts')];
  return lines.slice(0, LINES_MAX).map((line) => problem(line, 'mend or unset it: every run of the built-in agent fails with it'));
}

function ended([program = '', ...argv]: readonly string[], environment: Record<string, string>): Promise<{ code: number | undefined; said: string }> {
  return new Promise((done) => {
    const child = spawn(program, argv, { env: environment, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], timeout: START_MS_MAX, killSignal: 'SIGKILL' });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(0, 100_000)));
    child.once('error', () => done({ code: undefined, said }));
    child.once('close', (code) => done({ code: code ?? undefined, said }));
  });
}
