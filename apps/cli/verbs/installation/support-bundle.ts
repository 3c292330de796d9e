/** `millwright support-bundle`: what whoever helps needs to know, with nothing that must not leave. contract §11.7. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { scanBundle, type BundleFile } from '#management';
import type { Config } from '../../../server/config/config.ts';
import { CommandError, UsageError, verb, type CliIo } from '../../command.ts';
import { connectWith, endpointOf, SERVER_OPTIONS } from '../../connection/api.ts';
import { EXIT } from '../../exit-codes.ts';
import {
  jsonFile,
  knownSecrets,
  logFiles,
  serviceFiles,
  variablesFile,
  versionsFile,
} from '../../reports/bundle-files.ts';
import { outputFor } from '../../terminal/output.ts';

/** Of a log that is read, what stands last. */
const LOG_BYTES_MAX = 16 * 1_048_576;

/** The verb `support-bundle`. */
export const supportBundle = verb({
  name: 'support-bundle',
  arguments: 'FILE',
  summary:
    'Writes a .tar.gz for whoever helps: versions, names of variables, findings, conditions, passes, metrics, log.',
  details: [
    'Reads the same MILLWRIGHT_ variables as start, and asks the service, where it answers. Everything is scanned for',
    'secrets and payloads before it is written; where some are found, nothing is written, and it says where they are.',
    'The service logs to standard error: say where that goes (journalctl -u millwright -o cat | … --log -).',
  ],
  positionals: [1, 1],
  options: {
    log: { type: 'string', value: 'FILE|-', help: "the service's log, or - for standard input" },
    ...SERVER_OPTIONS,
  },
  async run({ values: { log, format, server, 'key-file': keyFile }, positionals: [to = ''] }, io) {
    const path = resolve(io.cwd, to);
    if (existsSync(path)) throw new UsageError(`${to} is there already: nothing is overwritten`);
    const files = await gathered({ log, server, keyFile }, io);
    const { readConfig } = await import('../../../server/config/config.ts');
    refuseFindings(files, io, settingsOf(readConfig, io));
    const { pack } = await import('tar-stream');
    writeFileSync(path, gzipSync(await archiveOf(pack(), files)), { mode: 0o600, flag: 'wx' });
    const output = await outputFor(io, format);
    output.result({ file: to, files: files.map(({ name }) => name) }, () => {
      output.line(`wrote ${to}: ${files.map(({ name }) => name).join(', ')}`);
      output.note('no secret and no payload was found in it; look through it before you send it');
    });
    return EXIT.ok;
  },
});

interface Gathering {
  log?: string;
  server?: string;
  keyFile?: string;
}

async function gathered({ log, ...place }: Gathering, io: CliIo): Promise<BundleFile[]> {
  const { examine } = await import('../../../server/doctor/doctor.ts');
  const { KNOWN_VARIABLES } = await import('../../../server/config/variables.ts');
  const [findings, asked] = await Promise.all([
    examine({ environment: io.environment, nowMs: Date.now }),
    serviceFiles(async () => {
      const { base, key } = await endpointOf(place, io);
      return { api: connectWith({ base, key }), base, key: key.value };
    }),
  ]);
  return [
    versionsFile(Date.now()),
    variablesFile(io.environment, KNOWN_VARIABLES),
    jsonFile('doctor.json', findings),
    ...asked,
    ...(log === undefined ? [] : logFiles(await logText(log, io))),
  ];
}

/** Nothing is written where something was found. */
function refuseFindings(files: readonly BundleFile[], io: CliIo, settings: Parameters<typeof knownSecrets>[1]): void {
  const found = scanBundle(files, knownSecrets(io.environment, settings));
  if (found.length === 0) return;
  throw new CommandError(
    'nothing was written: what must not leave this machine would be in it',
    EXIT.problems,
    found.map(({ file, line, what }) => `${file} line ${line}: ${what}`),
  );
}

/** Where the keys are; where the configuration is wrong, as far as it says so itself. */
function settingsOf(
  readConfig: (environment: CliIo['environment']) => Config,
  { environment }: CliIo,
): Parameters<typeof knownSecrets>[1] {
  try {
    return readConfig(environment);
  } catch {
    return {
      dataDir: environment['MILLWRIGHT_DATA_DIR'] ?? '.millwright',
      masterKeyFile: environment['MILLWRIGHT_MASTER_KEY_FILE'],
      uidKeyFile: environment['MILLWRIGHT_UID_KEY_FILE'],
    };
  }
}

async function logText(log: string, io: CliIo): Promise<string> {
  if (log !== '-') {
    const path = resolve(io.cwd, log);
    if (!existsSync(path)) throw new CommandError(`there is no file ${log}`, EXIT.usage);
    return tailOf(readFileSync(path));
  }
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Buffer));
  return tailOf(Buffer.concat(chunks));
}

function tailOf(bytes: Buffer): string {
  return bytes.subarray(-LOG_BYTES_MAX).toString('utf8');
}

interface Archive extends AsyncIterable<unknown> {
  entry(header: { name: string; mode: number }, text: string): unknown;
  finalize(): void;
}

async function archiveOf(archive: Archive, files: readonly BundleFile[]): Promise<Buffer> {
  for (const { name, text } of files) archive.entry({ name: `millwright-support/${name}`, mode: 0o600 }, text);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
