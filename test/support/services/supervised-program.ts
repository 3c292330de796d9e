/**
 * `millwright start --supervised`: the supervisor, and the service that it starts with this program.
 */
import { serve } from '../../../apps/server/main.ts';
import { SUITE_AGENT } from '../agents/suite-agent.ts';

const argv = process.argv.slice(3);
process.exitCode = await serve(argv.includes('--below-supervisor') ? argv : ['--supervised'], SUITE_AGENT);
