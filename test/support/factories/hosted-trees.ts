/**
 * Factories as people have them at the hosted service, written for these tests: each has the keys, folders and triggers
 * of a kind of factory that is published for it. Path → text.
 */
type Tree = Readonly<Record<string, string>>;

interface Shape {
  description: string;
  alias: string;
  repositories: readonly string[];
  integrations?: readonly string[];
  model?: string;
  more?: readonly string[];
}

function factoryFile(name: string, shape: Shape): string {
  const { description, alias, repositories, integrations = [], model = 'auto', more = [] } = shape;
  return [
    'schemaVersion: v1alpha1',
    `name: ${name}`,
    `description: >-\n  ${description}`,
    `alias: ${alias}`,
    ...(more.includes('executor') ? ['credentialStrategy: EXECUTOR'] : []),
    'repositories:',
    ...repositories.map((repository) => `  - owner: harbour\n    name: ${repository}`),
    ...(integrations.length === 0 ? [] : ['integrations:', ...integrations.map((type) => `  - type: ${type}`)]),
    'agentDefaults:',
    `  model: ${model}`,
    '  runner: linux-plain',
    ...(more.includes('worker') ? ['  workerHost: quay-worker'] : []),
    '',
  ].join('\n');
}

const agent = (type: string, keys: readonly string[], text: string): string =>
  ['---', `description: ${text}`, `agentType: ${type}`, ...keys, '---', `# ${type}`, '', text, ''].join('\n');

const automation = (text: string, ...triggers: readonly string[]): string =>
  ['---', 'triggers:', ...triggers.map((trigger) => `  - ${trigger}`), '---', text, ''].join('\n');

const RUNNER: Tree = {
  'runners/linux-plain.yaml': [
    'description: What most runs are worked on with.',
    'instanceShape: {vcpus: 2, memoryGb: 4}',
    'platform:',
    '  os: linux',
    '  arch: x86_64',
    '  linux:',
    '    dockerImage: debian:13',
    '    setupCommands: [apt-get update]',
    '',
  ].join('\n'),
};
const FOREMAN: Tree = { 'agents/foreman/agent.md': agent('MAIN', [], 'Hands work to whom it is for.') };
const MAKER: Tree = { 'agents/maker/agent.md': agent('IMPLEMENT', ['runner: linux-plain'], 'Makes the change.') };
const LABELLED = `{provider: github, event: issue_labeled, filter: {repos: [harbour/cranes], labels: [ready]}}`;

/** Harness, model and key of an agent of its own. */
const harness = (type: string, model: string, secret: string): string[] => [
  'harness:',
  `  type: ${type}`,
  `  model: ${model}`,
  '  auth:',
  '    source: managedSecret',
  `    secretName: ${secret}`,
];

/** One of each kind. */
export const HOSTED_TREES: Readonly<Record<string, Tree>> = {
  'default agents': {
    'factory.yaml': factoryFile('default-agents', {
      description: 'Every agent that a new factory begins with.',
      alias: 'Harbour',
      repositories: ['cranes'],
      integrations: ['slack', 'linear'],
      model: 'auto-genius',
    }),
    ...FOREMAN,
    ...MAKER,
    'agents/triage/agent.md': agent('TRIAGE', ['model: auto-efficient'], 'Says what is wanted.'),
    'agents/spec/agent.md': agent('SPEC', [], 'Writes down what is to be made.'),
    'agents/review/agent.md': agent('REVIEW', [], 'Looks for what is wrong.'),
    ...RUNNER,
  },
  'one repository': {
    'factory.yaml': factoryFile('one-repository', {
      description: 'The smallest that does something.',
      alias: 'Pier',
      repositories: ['cranes'],
    }),
    ...FOREMAN,
    ...MAKER,
    ...RUNNER,
  },
  'from issue to merge': {
    'factory.yaml': factoryFile('issue-to-merge', {
      description: 'Intake from chats, trackers and issues.',
      alias: 'Docks',
      repositories: ['cranes', 'tides', 'pilots'],
      integrations: ['slack', 'linear'],
      more: ['executor'],
    }),
    ...FOREMAN,
    'agents/maker/agent.md': agent('IMPLEMENT', [], 'Makes the change.'),
    'agents/maker/skills/testing/SKILL.md': '---\nname: testing\ndescription: How tests are written.\n---\nBriefly.\n',
    'automations/mentions/automation.md': automation(
      'Somebody asks for work. Read the thread first.',
      '{provider: github, event: issue_mentioned, filter: {mentioned: [docks-bot], labels: ["docks:any"]}}',
      '{provider: github, event: pull_request_assigned, filter: {repos: [harbour/tides], assignees: [docks-bot]}}',
    ),
    'automations/merged/automation.md': automation(
      'Close what the change was for.',
      '{provider: github, event: pull_request_merged, filter: {repos: [harbour/tides]}}',
      '{provider: github, event: pull_request_closed}',
    ),
    'automations/sessions/automation.md': automation(
      'Work on the issue.',
      '{provider: linear, event: agent_session_created}',
    ),
    'automations/messages/automation.md': automation('Answer.', '{provider: slack, event: message_dm}'),
    'automations/chat/automation.md': automation('Answer in the thread.', '{provider: slack, event: app_mention}'),
    ...RUNNER,
    'runners/macos.yaml': 'platform:\n  os: macos\n  arch: arm64\n  macos: {xcodeVersion: "16"}\n',
    'scorers/quality/scorer.md': '---\nmodel: auto\n---\nGive marks.\n',
    'skills/conventions/SKILL.md': '---\nname: conventions\ndescription: What is usual here.\n---\nTabs.\n',
  },
  'several harnesses': {
    'factory.yaml': factoryFile('several-harnesses', {
      description: 'One agent is of another maker than the next.',
      alias: 'Sampler',
      repositories: ['cranes'],
    }),
    'agents/foreman/agent.md': agent('MAIN', ['harness:', '  type: oz', '  model: auto'], 'Hands on.'),
    'agents/maker/agent.md': agent('IMPLEMENT', harness('claude', 'opus', 'ANTHROPIC_API_KEY'), 'Makes.'),
    'agents/critic/agent.md': agent('REVIEW', harness('codex', 'gpt-5', 'OPENAI_API_KEY'), 'Reads.'),
    'automations/labelled/automation.md': automation('Have it made and read.', LABELLED),
    ...RUNNER,
  },
  'reviews alone': {
    'factory.yaml': factoryFile('reviews-alone', {
      description: 'One agent that reads changes.',
      alias: 'Reader',
      repositories: ['cranes'],
    }),
    'agents/reader/agent.md': agent('MAIN', [], 'Reads.'),
    'automations/opened/automation.md': automation(
      'Read it, and say what you find.',
      '{provider: github, event: pull_request_opened, filter: {base_branches: [main], labels: {not_in: [draft]}}}',
    ),
    ...RUNNER,
  },
  'a look at pages': {
    'factory.yaml': factoryFile('look-at-pages', {
      description: 'An agent that looks at pages.',
      alias: 'Looker',
      repositories: ['tides'],
    }),
    'agents/looker/agent.md': agent('MAIN', ['computerUse: true'], 'Looks.'),
    'automations/check/automation.md': automation(
      'Start it, and look.',
      '{provider: github, event: pull_request_labeled, filter: {repos: [harbour/tides], labels: [look]}}',
    ),
    'automations/again/automation.md': automation('Try to have it happen again.', LABELLED),
    ...RUNNER,
  },
  'standing automations': {
    'factory.yaml': factoryFile('standing-automations', {
      description: 'One agent behind several automations.',
      alias: 'Keeper',
      repositories: ['cranes'],
      integrations: ['slack'],
    }),
    'agents/keeper/agent.md': agent('MAIN', [], 'Keeps.'),
    'automations/broken/automation.md': automation(
      'Find the step that failed.',
      '{provider: github, event: workflow_run_completed, filter: {branches: [main], conclusions: [failure]}}',
    ),
    'automations/drift/automation.md': automation(
      'See whether the texts are still true.',
      '{provider: github, event: push, filter: {branches: [main], paths: ["api/**"]}}',
    ),
    'automations/intake/automation.md': automation(
      'Write it down.',
      '{provider: slack, event: reaction_added, filter: {channels: [quay], emojis: [ticket]}}',
    ),
    'automations/weekly/automation.md': automation(
      'Look for what is outdated.',
      '{provider: schedule, event: cron_fired, schedule: {name: weekly, cron: "0 9 * * 1"}}',
    ),
    ...RUNNER,
  },
  'a worker of its own': {
    'factory.yaml': factoryFile('own-worker', {
      description: 'Runs are worked on where the team has machines.',
      alias: 'Quay',
      repositories: ['cranes'],
      more: ['worker'],
    }),
    ...FOREMAN,
    ...MAKER,
    'automations/labelled/automation.md': automation('Make what is asked for.', LABELLED),
    ...RUNNER,
  },
};
