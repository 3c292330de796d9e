/** The `millwright` command from its source, for tests that need the service as a process of its own. */
import { main } from '../../apps/cli/main.ts';

process.exitCode = await main(process.argv.slice(2));
