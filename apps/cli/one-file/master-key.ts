/** `millwright keys rotate-master` in the command as one file. contract §11.10 (One file), decision 0100. */
import { absentVerb } from './server-verbs.ts';

export const rotateMaster = absentVerb('keys rotate-master');
