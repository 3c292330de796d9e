/** `millwright upgrade`: this version takes the place of a running one. contract §1.8, §11. */
import { createConnection } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { UpgradeReport, UpgradeRequest, UpgradeResult } from '../../../server/upgrade/handover-messages.ts';
import { CommandError, verb } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { outputFor } from '../../terminal/output.ts';

/** The verb `upgrade`. */
export const upgrade = verb({
  name: 'upgrade',
  summary: 'Puts this version in the place of the one that runs on the data folder (millwright start --supervised).',
  details: [
    'Install the new version beside the old one, and call its `millwright upgrade` with the MILLWRIGHT_ variables of',
    'the service. It is loaded first; then the old one ends its work and steps aside, and connections wait in the',
    'kernel until the new one serves. Where it cannot begin, the old one comes back.',
  ],
  options: {
    program: { type: 'string', value: 'FILE', help: 'the command of another version (default: this one)' },
    format: { type: 'string', value: 'text|json', help: 'text for people (default), or JSON' },
  },
  async run({ values }, io) {
    const output = await outputFor(io, values.format);
    const { ConfigError, readConfig } = await import('../../../server/config/config.ts');
    const { UPGRADE_SOCKET } = await import('../../../server/upgrade/handover-messages.ts');
    let socket: string;
    try {
      socket = join(resolve(io.cwd, readConfig(io.environment).dataDir), UPGRADE_SOCKET);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const lines = error.faults.map(({ variable, rule }) => `${variable} ${rule}`);
      throw new CommandError('the configuration is wrong', EXIT.usage, lines, { cause: error });
    }
    const program = values.program === undefined ? (process.argv[1] ?? '') : resolve(io.cwd, values.program);
    const result = await ask(socket, { node: process.execPath, program }, (step) => output.note(step));
    output.result(result, () => {
      if (result.done === 'upgraded')
        output.line(`upgraded; connections waited ${result.pausedMs} ms in the kernel, none was refused`);
    });
    if (result.done === 'upgraded') return EXIT.ok;
    throw new CommandError(MEANINGS[result.done], EXIT.problems, result.lines);
  },
});

const MEANINGS: Readonly<Record<Exclude<UpgradeResult['done'], 'upgraded'>, string>> = {
  refused: 'not upgraded; the running version has not noticed',
  'rolled-back': 'not upgraded; the version of before serves again',
  lost: 'not upgraded, and the version of before did not come back: the service has ended',
};

/** Asks the supervisor, and waits for the end of it. Throws CommandError. */
function ask(socketPath: string, request: UpgradeRequest, note: (step: string) => void): Promise<UpgradeResult> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    socket.on('error', ({ code }: NodeJS.ErrnoException) => reject(unreachable(code ?? 'unknown')));
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    const lines = createInterface({ input: socket });
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      const report = JSON.parse(line) as UpgradeReport;
      if ('done' in report) resolve(report);
      else note(report.step);
    });
    socket.on('close', () => reject(unreachable('it ended')));
  });
}

function unreachable(code: string): CommandError {
  return new CommandError(
    `no service with --supervised runs on this data folder (${code}); set MILLWRIGHT_DATA_DIR to its folder, or ` +
      'restart it under the socket unit of systemd',
    EXIT.problems,
  );
}
