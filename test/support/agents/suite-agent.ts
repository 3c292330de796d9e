/** The built-in agent as suites start it. */
import type { BuiltInAgent } from '../../../apps/server/execution/agent/agents.ts';
import { nodeArguments, programFiles } from '../processes/node-arguments.ts';

export const SUITE_AGENT: BuiltInAgent = {
  command: [
    process.execPath,
    '--disable-warning=UNDICI-EHPA',
    ...nodeArguments('apps/agent/main.ts', { withLibs: false }),
  ],
  readOnly: programFiles(),
};
