/** `millwright start` from its source, for tests that need the service as a process of its own. */
import { serve } from '../../../apps/server/main.ts';
import { SOURCE_AGENT } from '../agents/source-agent.ts';

process.exitCode = await serve(process.argv.slice(3), SOURCE_AGENT);
