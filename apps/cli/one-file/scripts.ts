/** Texts of `apps/cli/action`; they are put in here when the file is made. decision 0100. */
import type { OwnFile } from '../starter/own-file.ts';

export const SCRIPTS: OwnFile['scripts'] = { 'action.yml': '', 'check.sh': '', 'command.sh': '' };
