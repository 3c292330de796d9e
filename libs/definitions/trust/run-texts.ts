/** The texts that a run works from, as files hold them. */
import type { Reading, WrittenAutomation } from '../types.ts';

/** Files of a skill that are read as text. */
const TEXT_FILE = /\.(?:md|markdown|txt|sh|py|js|mjs|ts|rb|ya?ml|json)$/i;

/** Everything, in lower case: prompt, skill with its files, set-up, MCP servers. */
export function textsOfRun({ definitions, skillFiles }: Reading, { prompt, agent }: WrittenAutomation): string {
  const { factory, environments, skills } = definitions;
  const defaults = factory.agentDefaults ?? {};
  const skill = skills.find(({ name }) => name === (agent.skill ?? defaults.skill));
  const environment = environments.find(({ name }) => name === (agent.environmentId ?? defaults.environmentId));
  return [
    prompt,
    agent.basePrompt ?? defaults.basePrompt ?? '',
    JSON.stringify(agent.mcpServers ?? defaults.mcpServers ?? {}),
    skill?.text ?? '',
    ...(skill === undefined ? [] : (skillFiles.get(skill.path) ?? []).map(textOf)),
    ...(environment?.setupCommands ?? []),
    environment?.dockerImage ?? '',
  ]
    .join('\n')
    .toLowerCase();
}

/** Text of a file of a skill; empty for what is none. */
export function textOf({ path, content }: { path: string; content: Uint8Array }): string {
  return TEXT_FILE.test(path) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(content) : '';
}
