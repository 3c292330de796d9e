/**
 * `millwright doctor`: checks this machine for a service and suggests a fix for each finding. Read-only. contract §11.
 */
import { resolve } from 'node:path';
import type { BuiltInAgent } from '../../../server/execution/agent/agents.ts';
import type { DoctorFinding, Level } from '../../../server/doctor/findings.ts';
import { findKey } from '../../connection/api.ts';
import { readAddress } from '../../connection/address.ts';
import { CommandError, verb, type CliIo, type DescribedVerb } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { readNamedFolder } from '../../repository/folder.ts';
import { exchange } from '../../connection/request.ts';
import { count, FORMAT_OPTION, outputFor, type Colour, type Output } from '../../terminal/output.ts';

const ANSWER_MS_MAX = 10_000;

const COLOURS: Readonly<Record<Level, Colour>> = { ok: 'green', warning: 'yellow', problem: 'red' };

/**
 * The verb `doctor`; `builtInAgent`: how the agent that comes with the service is started, as it was built if not said.
 */
export const doctorOf = (builtInAgent?: BuiltInAgent): DescribedVerb =>
  verb({
    name: 'doctor',
    arguments: '[DIR]',
    positionals: [0, 1],
    summary:
      'Looks whether this machine has what a service needs: programs, sandbox, agents, model, disk, database, clock.',
    details: [
      'With DIR, a factory repository, also whether the harnesses and models that its files name are to be had here.',
      'Reads the same MILLWRIGHT_ variables as start, needs no service, and changes nothing.',
      'Ends with 0 when there are no problems (there may be warnings), else with 1.',
    ],
    options: {
      format: FORMAT_OPTION,
      server: { type: 'string', value: 'URL', help: 'also ask the service there whether it is ready' },
      'key-file': {
        type: 'string',
        value: 'FILE',
        help:
          'file with the API key for --server (default: MILLWRIGHT_API_KEY; on this machine also <data ' +
          'dir>/admin-key)',
      },
    },
    async run({ values: { format, server, 'key-file': keyFile }, positionals: [folder] }, io) {
      const output = await outputFor(io, format);
      const base = server === undefined ? undefined : readAddress(server, '--server', io.environment);
      const { examine } = await import('../../../server/doctor/doctor.ts');
      const tree = folder === undefined ? undefined : await readNamedFolder(resolve(io.cwd, folder));
      const findings = await examine({ environment: io.environment, nowMs: Date.now, builtInAgent, tree });
      if (base !== undefined) findings.push(...(await askServer(base, keyFile, io)));
      output.result(toJson(findings), () => print(output, findings));
      return findings.some(({ level }) => level === 'problem') ? EXIT.problems : EXIT.ok;
    },
  });

/** The verb `doctor`. */
export const doctor = doctorOf();

function toJson(findings: readonly DoctorFinding[]): unknown {
  return {
    healthy: !findings.some(({ level }) => level === 'problem'),
    findings: findings.map(({ check, level, message, wayOut }) => ({
      check,
      level,
      message,
      ...(wayOut === undefined ? {} : { way_out: wayOut }),
    })),
  };
}

function print(output: Output, findings: readonly DoctorFinding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, level, message, wayOut } of findings) {
    output.labelled(level.padEnd(7), COLOURS[level], `${check.padEnd(width)}  ${message}`);
    if (wayOut !== undefined) output.line(`${' '.repeat(9 + width)}  → ${wayOut}`);
  }
  const [problems, warnings] = (['problem', 'warning'] as const).map(
    (wanted) => findings.filter(({ level }) => level === wanted).length,
  );
  output.line('');
  output.line(`${count(problems ?? 0, 'problem')}, ${count(warnings ?? 0, 'warning')}`);
}

interface Ready {
  status?: string;
  reasons?: string[];
  /** Every process that lives on its database. */
  processes?: { name: string; roles: string[] }[];
}

async function askServer(base: URL, keyFile: string | undefined, io: CliIo): Promise<DoctorFinding[]> {
  try {
    const key = findKey(keyFile, base, io);
    const address = new URL(`${base.href.replace(/\/+$/, '')}/readyz`);
    const { status, text } = await exchange(
      address,
      { method: 'GET', headers: { accept: 'application/json', authorization: `Bearer ${key.value}` } },
      ANSWER_MS_MAX,
    );
    return [judged(status, text, key.origin)].map((found) => ({ check: 'server', ...found }));
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
    return [
      {
        check: 'server',
        level: 'problem',
        message: cause.message,
        wayOut: 'start the service, or give --server and --key-file as they are',
      },
    ];
  }
}

function judged(status: number, text: string, keyOrigin: string): Omit<DoctorFinding, 'check'> {
  const { status: said, reasons, processes = [] } = readAnswer(text);
  if (said !== 'ready' && said !== 'not ready')
    return {
      level: 'problem',
      message: `what answers there (${status}) is no Millwright service`,
      wayOut: 'check --server',
    };
  if (reasons === undefined)
    return {
      level: 'problem',
      message: `the service is ${said}, but does not know the API key in ${keyOrigin}`,
      wayOut: 'give --key-file FILE with a key of that service',
    };
  if (said === 'not ready')
    return {
      level: 'problem',
      message: `the service is not ready: ${reasons.join(', ')}`,
      wayOut: 'look into its log',
    };
  if (reasons.length > 0)
    return {
      level: 'warning',
      message: `the service is ready, but not for everything: ${reasons.join(', ')}`,
      wayOut: 'look into its log',
    };
  const others =
    processes.length < 2
      ? ''
      : `; ${processes.length} processes share its ` +
        `database: ${processes.map(({ name, roles }) => `${name} (${roles.join(', ')})`).join('; ')}`;
  return { level: 'ok', message: `the service is ready and knows the API key${others}` };
}

function readAnswer(text: string): Ready {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
