/** The built-in agent from its source: tests run without a build. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuiltInAgent } from '../../../apps/server/execution/agent/agents.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const SOURCE_AGENT: BuiltInAgent = {
  command: [
    process.execPath,
    '--disable-warning=UNDICI-EHPA',
    '--import',
    join(ROOT, 'test/support/processes/typescript-loader.mjs'),
    join(ROOT, 'apps/agent/main.ts'),
  ],
  readOnly: ['.swcrc', 'apps/agent', 'libs', 'schemas', 'test/support', 'node_modules', 'package.json'].map((name) =>
    join(ROOT, name),
  ),
};
