/**
 * The command as one file, for repositories that keep it beside their jobs. The service's package holds it, a checkout
 * does not; where the command is that file itself, `apps/cli/one-file/own-file.ts` stands in the place of this module.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { version } from '../version.ts';

/** The file that runs, and the scripts that compare its digest before they run it. */
export interface OwnFile {
  text: string;
  /** Of the text in UTF-8, as 64 hexadecimal digits. */
  sha256: string;
  version: string;
  /** Texts of `apps/cli/action`, by name. */
  scripts: Readonly<Record<'action.yml' | 'check.sh' | 'command.sh', string>>;
}

/** `dist/one-file` of the package, as seen from the built module. */
const FOLDER = new URL('../../../one-file/', import.meta.url);

/** Undefined where there is none. */
export function ownFile(): OwnFile | undefined {
  const file = new URL('millwright.mjs', FOLDER);
  if (!existsSync(file)) return undefined;
  const bytes = readFileSync(file);
  const script = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
  return {
    text: bytes.toString('utf8'),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    version: version(),
    scripts: {
      'action.yml': script('action.yml'),
      'check.sh': script('check.sh'),
      'command.sh': script('command.sh'),
    },
  };
}
