/**
 * Skills of runs, in every way that they are named: the text that shapes the agent, and files that it finds and cannot
 * change. contract §3.4 (AmbientAgentConfig).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { startGitServer, type GitServer, type TestRepository } from '../support/git/git-server.ts';
import { syncAndGetStatus, syncsOf } from '../support/factories/factory-files.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-that-reads-the-factory';
let git: GitServer;
let service: TestService;
let factoryUid: string;
let factory: TestRepository;
let tools: TestRepository;

const skill = (text: string): string => `---\nname: x\ndescription: It does something.\n---\n${text}\n`;

beforeAll(async () => {
  git = await startGitServer();
  factory = git.createRepository('acme/factory');
  factory.commit({
    'skills/review/SKILL.md': skill('Review it, applied.'),
    'skills/review/scripts/check.sh': '#!/bin/sh\necho checked once\n',
    'docs/deep/SKILL.md': skill('Not a skill of the factory, but one of its repository.'),
  });
  git.tokens.set('acme/factory', TOKEN);
  tools = git.createRepository('acme/tools');
  tools.commit({
    'skills/first/SKILL.md': skill('The first place.'),
    '.claude/skills/first/SKILL.md': skill('The last place.'),
    '.claude/skills/only/SKILL.md': skill('The only place.'),
    '.claude/skills/only/notes/a.md': 'a note',
    '.claude/skills/only/secret': { symlink: '/etc/passwd' },
    '.claude/skills/only/up': { symlink: '../../..' },
    'some/where/SKILL.md': skill('Somewhere.'),
    'SKILL.md': skill('The repository itself.'),
    'skills/linked/SKILL.md': { symlink: '../first/SKILL.md' },
    ...Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`skills/many/${index}.md`, 'x'])),
    'skills/many/SKILL.md': skill('Many.'),
    'skills/heavy/SKILL.md': skill('Heavy.'),
    'skills/heavy/large.bin': Buffer.alloc(1_048_577),
    'skills/latin/SKILL.md': Buffer.from([0x47, 0xfc, 0x6e]),
  });
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
    },
  });
  await service.api('PUT', '/secrets/forge-token', { value: TOKEN, grants: { factories: '*', uses: ['git'] } });
  factoryUid = await service.factory('acme', {
    kind: 'git',
    url: git.urlOf('acme/factory'),
    branch: 'main',
    credentialSecret: 'forge-token',
  });
}, 120_000);
afterAll(async () => {
  await service.stop();
  await git.close();
});

interface Run {
  run_id: string;
  state: string;
  status_message?: { message: string; error_code?: string };
  agent_skill?: { name: string; full_path?: string; commit?: string };
}

/** Runs the steps with a skill to their end. */
async function ran(
  skillSpec: string,
  steps: readonly unknown[] = [{ say: 'done' }],
  factoryOf: string | null = factoryUid,
): Promise<Run> {
  const prompt = `Do it.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;
  const { body } = await service.api('POST', '/agent/runs', {
    prompt,
    factory_uid: factoryOf ?? undefined,
    config: { skill_spec: skillSpec, harness: { type: 'builtin' } },
  });
  return ended(String(body['run_id']));
}
const ended = (runId: string, executions = 1): Promise<Run> =>
  eventually(
    'the run has ended',
    async () => {
      const run = (await service.api('GET', `/agent/runs/${runId}`)).body as unknown as Run;
      const isOver = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'].includes(run.state);
      return isOver &&
        (await eventsOf(runId)).split(/"state":"(?:SUCCEEDED|FAILED|ERROR|CANCELLED)"/).length > executions
        ? run
        : undefined;
    },
    120_000,
  );
const eventsOf = async (runId: string): Promise<string> =>
  JSON.stringify((await service.api('GET', `/agent/runs/${runId}/events?limit=1000`)).body);

it('a run whose skill is being fetched ends when it is cancelled', async () => {
  git.fault = { kind: 'hang', only: 'fetch' };
  try {
    const { body } = await service.api('POST', '/agent/runs', {
      prompt: 'x',
      factory_uid: factoryUid,
      config: { skill_spec: 'acme/factory:docs/deep', harness: { type: 'builtin' } },
    });
    const runId = String(body['run_id']);
    await eventually('it is fetched', () => (git.requests.some(({ kind }) => kind === 'fetch') ? true : undefined));
    expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
    expect(await ended(runId)).toMatchObject({ state: 'CANCELLED' });
  } finally {
    git.fault = undefined;
  }
}, 120_000);

const homeOf = ({ run_id: runId }: Run): string => join(service.dataDir, 'runs', runId, 'home');
const putAt = (run: Run, name: string, file = 'SKILL.md'): string => join(homeOf(run), '.agents/skills', name, file);
const bash = (command: string): unknown => ({ tool: 'bash', input: { command } });

describe('a skill of the factory', () => {
  it('lies in the home of the run as applied, read-only; a change of any of its files is a change of it', async () => {
    const run = await ran('review', [
      bash(
        'sh "$HOME/.agents/skills/review/scripts/check.sh"; echo more >> "$HOME/.agents/skills/review/SKILL.md" ' +
          '|| echo it stays',
      ),
      { say: 'done' },
    ]);
    expect(run).toMatchObject({
      state: 'SUCCEEDED',
      agent_skill: { name: 'review', full_path: 'skills/review/SKILL.md' },
    });
    expect(run.agent_skill).not.toHaveProperty('commit');
    const events = await eventsOf(run.run_id);
    expect(events).toContain('checked once');
    expect(events).toContain('it stays');
    expect(readFileSync(putAt(run, 'review'), 'utf8')).toBe(skill('Review it, applied.'));
    const sessions = join(homeOf(run), '.millwright-agent');
    const told = readdirSync(sessions)
      .map((name) => readFileSync(join(sessions, name), 'utf8'))
      .join('');
    for (const words of [
      'Review it, applied.',
      'The other files of this skill (scripts/check.sh) are in $HOME/.agents/skills/review/.',
    ])
      expect(told).toContain(words);

    factory.commit({ 'skills/review/scripts/check.sh': '#!/bin/sh\necho checked twice\n' });
    await syncAndGetStatus(service, factoryUid);
    expect((await syncsOf(service, factoryUid))[0]?.changes).toEqual([
      expect.objectContaining({ action: 'update', kind: 'skill', slug: 'review', changes: ['filesDigest'] }),
    ]);
    expect(
      await eventsOf(
        (await ran('review', [bash('sh "$HOME/.agents/skills/review/scripts/check.sh"'), { say: 'done' }])).run_id,
      ),
    ).toContain('checked twice');

    // That one may be executed is a change of the repository, though none of the definition.
    const script = factory.git('rev-parse', 'main:skills/review/scripts/check.sh').trim();
    factory.git('read-tree', 'main');
    factory.git('update-index', '--cacheinfo', `100755,${script},skills/review/scripts/check.sh`);
    const commit = factory
      .git(
        '-c',
        'user.name=t',
        '-c',
        'user.email=t@example.com',
        'commit-tree',
        '-p',
        'main',
        '-m',
        'executable',
        factory.git('write-tree').trim(),
      )
      .trim();
    factory.git('update-ref', 'refs/heads/main', commit);
    await syncAndGetStatus(service, factoryUid);
    const executable = await ran('review', [bash('"$HOME/.agents/skills/review/scripts/check.sh"'), { say: 'done' }]);
    expect(await eventsOf(executable.run_id)).toContain('checked twice');
    expect(statSync(putAt(executable, 'review', 'scripts/check.sh')).mode & 0o777).toBe(0o555);

    factory.commit({ 'skills/review/scripts/check.sh': null, 'skills/review/NOTES.md': 'notes' });
    await syncAndGetStatus(service, factoryUid);
    const changed = await ran('review');
    expect(readdirSync(join(homeOf(changed), '.agents/skills/review')).toSorted()).toEqual(['NOTES.md', 'SKILL.md']);
  }, 180_000);

  it('replaces what an execution planted in its place, and follows nothing', async () => {
    const run = await ran('review');
    const outside = join(service.dataDir, 'outside');
    mkdirSync(outside);
    for (const planted of ['.agents', '.agents/skills', '.agents/skills/review']) {
      rmSync(join(homeOf(run), planted), { recursive: true, force: true });
      symlinkSync(outside, join(homeOf(run), planted));
      await service.api('POST', `/agent/runs/${run.run_id}/followups`, { message: '```demo\n[{"say":"again"}]\n```' });
      await ended(run.run_id, 2 + ['.agents', '.agents/skills', '.agents/skills/review'].indexOf(planted));
      expect(readdirSync(outside)).toEqual([]);
      expect(readFileSync(putAt(run, 'review'), 'utf8')).toBe(skill('Review it, applied.'));
    }
  }, 120_000);
});

describe('a skill of a repository', () => {
  it.each([
    {
      spec: 'acme/tools:first',
      name: 'first',
      text: 'The first place.',
      why: 'by its name, in the first of the usual folders',
    },
    { spec: 'acme/tools:only', name: 'only', text: 'The only place.', why: 'by its name, in another of them' },
    { spec: 'acme/tools:some/where/SKILL.md', name: 'where', text: 'Somewhere.', why: 'by its path' },
    { spec: 'acme/tools:SKILL.md', name: 'tools', text: 'The repository itself.', why: 'at the top' },
  ])(
    'is read at a commit that is told: $why',
    async ({ spec, name, text }) => {
      const run = await ran(spec);
      expect(run).toMatchObject({ state: 'SUCCEEDED', agent_skill: { name, commit: tools.tip() } });
      expect(readFileSync(putAt(run, name), 'utf8')).toBe(skill(text));
      if (name === 'only')
        expect(
          readdirSync(join(homeOf(run), '.agents/skills/only'), { recursive: true })
            .map(String)
            .toSorted(),
        ).toEqual(['SKILL.md', 'notes', 'notes/a.md']); // no link
      if (name === 'tools') expect(existsSync(putAt(run, 'tools', 'some'))).toBe(false);
    },
    120_000,
  );

  it('may be one of the factory’s own repository, which its credential reads', async () => {
    const run = await ran('acme/factory:docs/deep/SKILL.md');
    expect(run).toMatchObject({ state: 'SUCCEEDED', agent_skill: { name: 'deep', commit: factory.tip() } });
    expect(await eventsOf(run.run_id)).not.toContain(TOKEN);
  }, 120_000);

  it.each([
    { spec: 'reveiw', says: ['no skill "reveiw"', 'review'], why: 'a name that is not declared' },
    {
      spec: 'acme/tools:nowhere',
      says: ['skills/nowhere/SKILL.md, .agents/skills/nowhere/SKILL.md, .claude/skills/nowhere/SKILL.md'],
      why: 'nowhere',
    },
    { spec: 'acme/tools:no/SKILL.md', says: ['no/SKILL.md'], why: 'no such path' },
    { spec: 'acme/tools:../../etc/SKILL.md', says: ['no skill'], why: 'a way out' },
    { spec: 'acme/tools:linked', says: ['link'], why: 'a link' },
    { spec: 'acme/tools:many', says: ['102 files', '100'], why: 'too many files' },
    { spec: 'acme/tools:heavy', says: ['bytes', '1 MiB'], why: 'too large' },
    { spec: 'acme/tools:latin', says: ['UTF-8'], why: 'no text' },
    { spec: 'acme/absent:x', says: ['acme/absent'], why: 'no such repository' },
  ])(
    'fails the run with what to do: $why',
    async ({ spec, says }) => {
      const { state, status_message: status } = await ran(spec);
      expect([state, status?.error_code]).toEqual(['FAILED', 'environment_setup_failed']);
      for (const said of says) expect(status?.message).toContain(said);
    },
    120_000,
  );

  it('is nobody’s without a factory', async () => {
    expect(await ran('acme/tools:first', undefined, null)).toMatchObject({
      state: 'FAILED',
      status_message: { message: expect.stringContaining('factory_uid') },
    });
  }, 120_000);
});
