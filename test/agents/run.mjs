// Installs the coding agents of these tests into a cache outside the project, and runs the tests with them.
import { cacheFolder, installPackages, runTests } from '../support/external-tests.mjs';

/** Exactly these: another version may speak another way. */
const AGENTS = {
  'opencode-ai': '1.18.33',
  '@google/gemini-cli': '0.61.0',
  '@agentclientprotocol/claude-agent-acp': '0.49',
  '@qwen-code/qwen-code': '0.24.4',
  '@agentclientprotocol/codex-acp': '2.6.0',
};

const cache = cacheFolder('MILLWRIGHT_AGENTS_CACHE', 'agents');
process.exitCode = runTests('test/agents', { MILLWRIGHT_TEST_AGENTS: installPackages(cache, AGENTS) });
