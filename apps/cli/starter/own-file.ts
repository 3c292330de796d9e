/**
 * The command as one file, for repositories that keep it beside their jobs. In a checkout and in the service's package
 * the command is many files: `apps/cli/one-file/own-file.ts` stands in the place of this module where it is one.
 */

/** The file that runs, and the scripts that compare its digest before they run it. */
export interface OwnFile {
  text: string;
  /** Of the text in UTF-8, as 64 hexadecimal digits. */
  sha256: string;
  version: string;
  /** Texts of `apps/cli/action`, by name. */
  scripts: Readonly<Record<'action.yml' | 'check.sh' | 'command.sh', string>>;
}

/** Undefined where the command is not one file. */
export function ownFile(): OwnFile | undefined {
  return undefined;
}
