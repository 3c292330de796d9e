/** `millwright deliveries payload`: the exact bytes of a delivery, to a file or on. contract §4. */
import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError, UsageError, type OptionSpecs } from '../../command.ts';
import type { Calling } from '../../connection/api.ts';
import { EXIT } from '../../exit-codes.ts';
import { grouped } from '../../terminal/output.ts';

const OPTIONS = {
  save: { type: 'string', value: 'FILE', help: 'file to write them to, that nobody else may read' },
  force: { type: 'boolean', help: 'with --save: replace a file that is there' },
} as const satisfies OptionSpecs;

interface Values {
  readonly save?: string;
  readonly force?: boolean;
}

const spec = {
  name: 'deliveries payload',
  arguments: '[FACTORY] WEBHOOK ENTRY',
  summary: 'Prints the exact bytes of an accepted delivery.',
  details: [
    'They are a sender’s: on a terminal, what would steer it is written out. -o json|yaml prints an object with them ' +
      'as text, or in base64.',
  ],
  positionals: [2, 3],
  options: OPTIONS,
} as const;

function check({ save, force = false }: Values): void {
  if (force && save === undefined) throw new UsageError('--force needs --save FILE');
}

async function print(
  { entryId, bytes }: { entryId: string; bytes: Uint8Array },
  { save, force = false }: Values,
  { output, io }: Calling,
): Promise<number> {
  if (save !== undefined) {
    const path = resolve(io.cwd, save);
    await write(path, bytes, force);
    output.result({ entry_id: entryId, size: bytes.length, file: path }, () =>
      output.note(`saved ${path}, ${grouped(bytes.length)} bytes`),
    );
  } else if (output.isStructured) {
    output.result({ entry_id: entryId, size: bytes.length, ...toMember(bytes) }, () => undefined);
  } else if (io.stdout.isTTY === true) {
    output.text(new TextDecoder().decode(bytes));
  } else {
    io.stdout.write(bytes);
  }
  return EXIT.ok;
}

export const payload = { spec, check, print };

/** As text where it is text, so that nothing is lost either way. */
function toMember(bytes: Uint8Array): { encoding: string; payload: string } {
  try {
    const payload = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { encoding: 'utf-8', payload };
  } catch {
    return { encoding: 'base64', payload: Buffer.from(bytes).toString('base64') };
  }
}

async function write(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  try {
    if (force) await rm(path, { force: true }); // a link goes away, and what it leads to stays
    await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new CommandError(`there is a file ${path}; name another one, or give --force`, EXIT.problems, [], {
        cause,
      });
    throw new CommandError(`${path} cannot be written (${code})`, EXIT.usage, [], { cause });
  }
}
