/**
 * `millwright start --supervised` from its source: the supervisor, and the service that it starts with this program.
 */
import { serve } from '../../../apps/server/main.ts';
import { SOURCE_AGENT } from '../agents/source-agent.ts';

const argv = process.argv.slice(3);
process.exitCode = await serve(argv.includes('--below-supervisor') ? argv : ['--supervised'], SOURCE_AGENT);
