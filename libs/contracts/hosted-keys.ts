/**
 * Which keys of the hosted service's files are not served here, and what is lost with each: they are ignored with a
 * warning, so that existing files carry over. contract §8.6 (Definitions of the hosted format).
 */
import type { DefinitionSchemaName } from './registry.ts';

/** The version of the hosted service's format that is read here. */
export const HOSTED_SCHEMA_VERSION = 'v1alpha1';

const MACHINE = 'runs are worked on where the service runs them';
const RUNNER = 'for image and set-up commands write environments/<name>.yaml';

/** Pointer of the mapping (`''` = root) → keys in it → what is lost, a part of a sentence. */
export const HOSTED_KEYS: Readonly<
  Record<DefinitionSchemaName, Readonly<Record<string, Readonly<Record<string, string>>>>>
> = {
  factory: {
    '': {
      alias: 'nobody can mention the factory in a chat',
      credentialStrategy: 'runs have the secrets that files name, never the credentials of a person',
      repositories: 'runs check out what their environment lists: environments/<name>.yaml',
      skills: 'skills are the folders of skills/',
      agents: 'automations have their own prompts',
      runner: RUNNER,
      workerHost: MACHINE,
      cloudProviders: 'runs have no identity at a cloud provider',
      providers: 'runs have no identity at a cloud provider',
      integrations: 'no chat and no issue tracker starts runs',
      codeForges: 'no code forge is connected; its webhooks are files of webhooks/',
    },
    '/agentDefaults': {
      agent: 'automations have their own prompts',
      runner: RUNNER,
      workerHost: MACHINE,
      credentials: 'runs have the secrets that files name',
      integrations: 'no chat and no issue tracker starts runs',
    },
  },
  webhook: { '': { agent: 'the automation says what is done' } },
  automation: {
    '': {
      agent: 'what its file says is no part of the prompt',
      agents: 'what their files say is no part of the prompt',
      runner: RUNNER,
      workerHost: MACHINE,
      skills: 'name one with skill',
      scorers: 'no run is scored',
    },
  },
  environment: { '': { runner: RUNNER, workerHost: MACHINE } },
};

/** Folders of the hosted service's format that are not served here → what is lost. */
export const HOSTED_FOLDERS: Readonly<Record<string, string>> = {
  agents: 'runs have the prompt of their automation, and no agent hands work to another',
  runners: 'image and set-up commands of a run are in environments/<name>.yaml',
  scorers: 'no run is scored',
  benchmarks: 'no benchmark is run',
};
