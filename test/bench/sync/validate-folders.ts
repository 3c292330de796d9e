/**
 * `millwright validate` for each folder that it is given, in one process: one factory may have 2,000 definition files
 * and no more.
 */
import { validate } from '../../../apps/cli/verbs/validate.ts';

for (const folder of process.argv.slice(2)) {
  const code = await validate([folder], { stdout: process.stdout, stderr: process.stderr, cwd: process.cwd() });
  if (code !== 0) process.exitCode = code;
}
