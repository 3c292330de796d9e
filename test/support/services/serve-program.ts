/** `millwright start`, for tests that need the service as a process of its own. */
import { serve } from '../../../apps/server/main.ts';
import { SUITE_AGENT } from '../agents/suite-agent.ts';

process.exitCode = await serve(process.argv.slice(3), SUITE_AGENT);
