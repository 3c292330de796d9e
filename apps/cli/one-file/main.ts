/** Where the command as one file begins. contract §11.10 (One file), decision 0100. */
import { EXIT } from '../exit-codes.ts';
import { main } from '../main.ts';

const OLDEST = [20, 19] as const;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) {
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write(`millwright: Node.js ${OLDEST.join('.')} or later is needed; this is ${process.version}\n`);
  process.exitCode = EXIT.internal;
}
