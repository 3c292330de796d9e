/**
 * `millwright doctor`: checks this machine for a service and suggests a fix for each finding. Read-only. contract §11.
 */
import { resolve } from 'node:path';
import type { TreeFile } from '#definitions';
import type { BuiltInAgent } from '../../../server/execution/agent/agents.ts';
import type { DoctorFinding, Level } from '../../../server/doctor/findings.ts';
import { namedServer } from '../../connection/address.ts';
import { CommandError, UsageError, verb, type CliIo, type DescribedVerb } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { readNamedFolder } from '../../repository/folder.ts';
import { count, FORMAT_OPTION, outputFor, type Colour, type Output } from '../../terminal/output.ts';
import { askDefinitions, askReadiness } from './doctor-service.ts';

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
      'Also whether harnesses and models are to be had: those that the files of DIR name, else those of the current',
      'folder where it is a factory repository; else it asks the service that MILLWRIGHT_SERVER or the context in use',
      'names whether it is ready, and what its factories name. The first line says what was looked at.',
      'Reads the same MILLWRIGHT_ variables as start, needs no service of its own, and changes nothing.',
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
      const place = await placeOf(folder, server, io);
      const { examine } = await import('../../../server/doctor/doctor.ts');
      const { files: tree, service } = place;
      const findings = [
        ...lookedAt(place),
        ...(await examine({ environment: io.environment, nowMs: Date.now, builtInAgent, tree })),
        ...(service === undefined ? [] : await askReadiness(service.base, keyFile, io)),
        ...(service === undefined || tree !== undefined ? [] : await askDefinitions(service.base, keyFile, io)),
      ];
      output.result(toJson(findings), () => print(output, findings));
      return findings.some(({ level }) => level === 'problem') ? EXIT.problems : EXIT.ok;
    },
  });

/** The verb `doctor`. */
export const doctor = doctorOf();

/** What is looked at beside this machine. */
interface DoctorPlace {
  /** Definition files, and what the folder is called. */
  files?: readonly TreeFile[];
  folder?: string;
  service?: { base: URL; by: string };
  /** Why something that could have been looked at was not. */
  hindered?: string;
}

/** What was named; else the folder that one stands in, where it is a factory repository; else the connected service. */
async function placeOf(folder: string | undefined, server: string | undefined, io: CliIo): Promise<DoctorPlace> {
  const service = server === undefined ? undefined : namedServer(server, io);
  if (folder !== undefined) return { files: await readNamedFolder(resolve(io.cwd, folder)), folder, service };
  if (service !== undefined) return { service };
  try {
    const files = await readNamedFolder(io.cwd);
    if (files.some(({ path }) => OF_A_FACTORY.test(path))) return { files, folder: `the current folder, ${io.cwd}` };
    return { service: namedServer(undefined, io) };
  } catch (cause) {
    if (!(cause instanceof CommandError || cause instanceof UsageError)) throw cause;
    return { hindered: cause.message };
  }
}

/** Other folders have skills, too. */
const OF_A_FACTORY = /^(factory\.yaml$|webhooks\/|automations\/)/;

function lookedAt({ folder, files, service, hindered }: DoctorPlace): DoctorFinding[] {
  const check = 'looked at';
  if (hindered !== undefined)
    return [{ check, level: 'warning', message: `this machine alone: ${hindered}`, wayOut: 'give DIR or --server' }];
  const beside = [
    ...(folder === undefined ? [] : [`${count(files?.length ?? 0, 'definition file')} of ${folder}`]),
    ...(service === undefined ? [] : [`the service at ${service.base.href} (${service.by})`]),
  ];
  const nothing = ' alone: the current folder is no factory repository, and no service is named (DIR, --server)';
  return [{ check, level: 'ok', message: `this machine${beside.length === 0 ? nothing : `, ${beside.join(', ')}`}` }];
}

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
