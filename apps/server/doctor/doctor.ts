/**
 * Everything that `millwright doctor` looks at, in the order in which it is told. Makes and changes nothing. contract
 * §11.
 */
import type { TreeFile } from '#definitions';
import { ConfigError, readConfig, type Config } from '../config/config.ts';
import { BUILT_IN_AGENT, type BuiltInAgent } from '../execution/agent/agents.ts';
import { detectSandbox } from '../execution/sandbox/sandboxes-detection.ts';
import type { Sandbox } from '../execution/sandbox/sandboxes.ts';
import { agents, definitions } from './agents-check.ts';
import { clock, service } from './service-check.ts';
import { configuredFiles, dataFolder, disk } from './configured-files-check.ts';
import { database } from './database-check.ts';
import { problem, ok, type DoctorFinding, type Remark } from './findings.ts';
import { model } from './model-check.ts';
import { git, node, signatures } from './programs-check.ts';
import { sandbox } from './sandbox-check.ts';

export interface DoctorTarget {
  config: Config;
  /** Variables that were not read, because they are wrong. */
  faulty: ReadonlySet<string>;
  builtInAgent: BuiltInAgent;
  /** The best means of isolation that works here, tried in the system's temporary folder. */
  sandbox: Promise<Sandbox>;
  /** Definition files whose harnesses and models have to be had here. */
  tree?: readonly TreeFile[];
  nowMs(): number;
}

type Check = (target: DoctorTarget) => Remark[] | Promise<Remark[]>;

const CHECKS: Readonly<Record<string, Check>> = {
  node,
  git,
  signatures,
  files: configuredFiles,
  'data folder': dataFolder,
  disk,
  service,
  database,
  clock,
  sandbox,
  agents,
  model,
  definitions,
};

export interface Examination {
  environment: Readonly<Record<string, string | undefined>>;
  nowMs(): number;
  /** How the agent that comes with the service is started; as it was built, if not said. */
  builtInAgent?: BuiltInAgent;
  tree?: readonly TreeFile[];
}

/** All findings. Never rejects for what is wrong with the machine. */
export async function examine({
  environment,
  nowMs,
  builtInAgent = BUILT_IN_AGENT,
  tree,
}: Examination): Promise<DoctorFinding[]> {
  const { config, faults } = configOf(environment);
  const found = detectSandbox({ path: config.searchPath });
  found.catch(() => undefined); // whoever waits for it hears of it
  const target = {
    config,
    sandbox: found,
    faulty: new Set(faults.map(({ variable }) => variable)),
    builtInAgent,
    tree,
    nowMs,
  };
  const asked = Object.entries(CHECKS).map(async ([check, look]) =>
    (await seen(look, target)).map((remark) => ({ ...remark, check })),
  );
  return [
    ...configuration(faults).map((remark) => ({ ...remark, check: 'configuration' })),
    ...(await Promise.all(asked)).flat(),
  ];
}

async function seen(look: Check, target: DoctorTarget): Promise<Remark[]> {
  try {
    return await look(target);
  } catch (error) {
    // Only the code: a message may repeat what was looked at.
    const { code, name = 'unknown' } = error as { code?: string; name?: string };
    return [
      problem(
        `could not be looked at (${code ?? name})`,
        'run the command as the user that runs the service, and report this if it stays',
      ),
    ];
  }
}

function configuration(faults: ConfigError['faults']): Remark[] {
  if (faults.length === 0) return [ok('every MILLWRIGHT_ variable can be read')];
  return faults.map(({ variable, rule }) =>
    problem(`${variable} ${rule}`, 'mend or unset it; `millwright start` refuses it too'),
  );
}

/** What is looked at although another variable is wrong. */
const READ_ALONE = new Set([
  'PATH',
  'MILLWRIGHT_DATA_DIR',
  'MILLWRIGHT_DATABASE_URL',
  'MILLWRIGHT_DATABASE_DIRECT_URL',
  'MILLWRIGHT_DISK_RESERVE_MB',
  'MILLWRIGHT_MASTER_KEY_FILE',
  'MILLWRIGHT_UID_KEY_FILE',
  'MILLWRIGHT_PORT',
]);

function configOf(environment: Examination['environment']): { config: Config; faults: ConfigError['faults'] } {
  try {
    return { config: readConfig(environment), faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faulty = new Set(error.faults.map(({ variable }) => variable));
    const readable = Object.entries(environment).filter(
      ([name]) => !faulty.has(name) && (READ_ALONE.has(name) || name.startsWith('MILLWRIGHT_AGENT_')),
    );
    return { config: readConfig(Object.fromEntries(readable)), faults: error.faults };
  }
}
