/**
 * Agents as data: what a model makes of a command line, what an operator changes, where models are, and who lacks
 * credentials. contract §10.
 */
import { readHostPattern } from '#isolation';
import { LAUNCH_PROFILES } from './built-in-profiles.ts';
import {
  credentialProblem,
  launchCommand,
  launchEnvironment,
  modelHostsOf,
  profilesWith,
  type LaunchProfile,
  type OwnProfile,
} from './launch-profiles.ts';

const profile = (id: string): LaunchProfile =>
  LAUNCH_PROFILES.find((candidate) => candidate.id === id) as LaunchProfile;
const namesOf = (of: LaunchProfile): string[] =>
  modelHostsOf(of).map(({ host, ports }) => `${host.kind === 'name' ? host.name : host.address}:${ports.join('+')}`);

it('has the agents that were tried, each complete', () => {
  expect(LAUNCH_PROFILES.map(({ id }) => id)).toEqual(['opencode', 'gemini', 'codex', 'claude', 'qwen']);
  for (const { endpoints, credentials, install, skillFolders } of LAUNCH_PROFILES) {
    expect(endpoints.map(readHostPattern)).not.toContain(undefined);
    expect(credentials.length).toBeGreaterThan(0);
    expect(install).toMatch(/^npm install -g \S+$/);
    expect(skillFolders).toHaveLength(1);
  }
});

it('tells each agent its model in its own way', () => {
  expect(launchCommand(profile('gemini'), 'gemini-2.5-pro')).toEqual(['gemini', '--acp', '--model', 'gemini-2.5-pro']);
  expect(launchCommand(profile('gemini'), undefined)).toEqual(['gemini', '--acp']);
  expect(launchEnvironment(profile('claude'), 'opus')['ANTHROPIC_MODEL']).toBe('opus');
  expect(launchEnvironment(profile('codex'), 'gpt-9[low]')['CODEX_CONFIG']).toBe(
    '{"model":"gpt-9","model_reasoning_effort":"low"}',
  );
  expect(launchEnvironment(profile('codex'), undefined)).not.toHaveProperty('CODEX_CONFIG');
  expect(launchCommand(profile('opencode'), 'openai/gpt')).toEqual(['opencode', 'acp']);
});

it.each<{ own: Omit<OwnProfile, 'id'>; hosts: string[]; why: string }>([
  { own: {}, hosts: ['api.openai.com:80+443'], why: 'nothing is said' },
  {
    own: { env: { OPENAI_BASE_URL: 'https://models.example.com/v1' } },
    hosts: ['models.example.com:443'],
    why: 'another endpoint takes its place',
  },
  {
    own: { secretEnv: { OPENAI_BASE_URL: 'http://127.0.0.1:9000/v1' } },
    hosts: ['127.0.0.1:9000'],
    why: 'also where it is a secret',
  },
  {
    own: { env: { OPENAI_BASE_URL: 'no url' } },
    hosts: ['api.openai.com:80+443'],
    why: 'what is no URL leads nowhere',
  },
  { own: { endpoints: ['a.example.com:8443'] }, hosts: ['a.example.com:8443'], why: 'the operator names them' },
  {
    own: { endpoints: ['a.example.com:8443'], env: { OPENAI_BASE_URL: 'https://b.example.com' } },
    hosts: ['a.example.com:8443', 'b.example.com:443'],
    why: 'both are said',
  },
  {
    own: {
      endpointVariables: ['HOUSE_URL'],
      env: { HOUSE_URL: 'https://c.example.com', OPENAI_BASE_URL: 'https://d.example.com' },
    },
    hosts: ['c.example.com:443'],
    why: 'the operator knows the variable',
  },
])('reaches $hosts where $why', ({ own, hosts }) => {
  expect(namesOf(profilesWith([{ id: 'codex', ...own }]).at(-1) as LaunchProfile)).toEqual(hosts);
});

it('wants one of its credentials, from the run or from the operator, and says how they are given', () => {
  expect(credentialProblem(profile('gemini'), {})).toBe(
    'the agent gemini has no credentials for its model: it needs one of GEMINI_API_KEY, GOOGLE_API_KEY; store ' +
      'it as a managed secret of that name, granted for runs, ' +
      "and name it in the run's secrets, or let the operator of this service give it in a profile of the agent " +
      '(MILLWRIGHT_AGENT_PROFILES_FILE)',
  );
  expect(credentialProblem(profile('gemini'), { GOOGLE_API_KEY: 'x' })).toBeUndefined();
  expect(
    credentialProblem(profilesWith([{ id: 'gemini', secretEnv: { GEMINI_API_KEY: 'x' } }]).at(-1) as LaunchProfile, {}),
  ).toBeUndefined();
  expect(
    credentialProblem(profilesWith([{ id: 'gemini', credentials: [] }]).at(-1) as LaunchProfile, {}),
  ).toBeUndefined();
});
