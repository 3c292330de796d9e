/** Private repositories of a run: fetched, and pushed to, from inside. contract §10.5 (Brokered remotes). */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { ENDED, logOf, outputOf, SHELL, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** In no file of the machine. */
const TOKEN = `ghp-canary-${randomBytes(16).toString('hex')}`;

let git: GitServer;
let service: TestService;
let factoryUid: string;

beforeAll(async () => {
  git = await startGitServer();
  for (const name of ['acme/app', 'acme/site', 'acme/other']) {
    git.createRepository(name).commit({ 'file.txt': `of ${name}` });
    git.tokens.set(name, TOKEN);
    execFileSync('git', ['-C', join(git.root, name), 'config', 'http.receivepack', 'true']);
  }
  git.createRepository('acme/factory').commit({
    'environments/build.yaml': 'repositories: [acme/app, {owner: acme, name: site, push: true}]\n',
  });
  git.tokens.set('acme/factory', TOKEN);
  service = await bootService({
    environment: {
      ...SHELL,
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_RUN_ALLOW_HOSTS: new URL(git.url).host,
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
});
afterAll(async () => {
  await service.stop();
  await git.close();
});

async function ran(script: string, endsWithinMs?: number): Promise<{ output: string; log: string }> {
  const runId = await startedRun(service, script, { factory_uid: factoryUid, config: { environment_id: 'build' } });
  await eventually(
    'the run ends',
    async () =>
      ENDED.includes(String((await service.api('GET', `/agent/runs/${runId}`)).body['state'])) ? true : undefined,
    endsWithinMs,
  );
  const log = (await logOf(service, runId)).map(({ payload }) => payload.text ?? payload.message ?? '').join('\n');
  return { output: await outputOf(service, runId), log };
}

const COMMITTER = 'git config user.name Agent; git config user.email agent@example.test';

it('fetches what its host has since, over the address that its remote has', async () => {
  git.createRepository('acme/late').commit({ a: 'b' });
  const { output } = await ran(
    'cd app; git remote get-url origin; git fetch origin main 2>&1 && echo fetched; ' +
      'git clone -q $(git remote get-url origin) ../again 2>&1 && cat ../again/file.txt',
  );
  expect(output).toContain(`${git.urlOf('acme/app')}\n`);
  expect(output).toContain('fetched\nof acme/app');
});

it('pushes where its environment says so, and nowhere else', async () => {
  const push = (folder: string): string =>
    `cd ${folder}; ${COMMITTER}; echo new > new.txt; git add .; git commit -qm 'A change'; ` +
    `git push origin HEAD:refs/heads/${folder}-change 2>&1 && echo "${folder} pushed"; cd ..`;
  const { output } = await ran([push('site'), push('app')].join('; '));
  const branches = (name: string): string =>
    execFileSync('git', ['-C', join(git.root, name), 'branch', '--list'], { encoding: 'utf8' });
  expect(output).toContain('site pushed');
  expect(branches('acme/site')).toContain('site-change');
  expect(output).not.toContain('app pushed');
  expect(branches('acme/app')).not.toContain('app-change');
});

it('has no credential for another repository of that host, and none inside', async () => {
  const { output, log } = await ran(
    [
      `GIT_TERMINAL_PROMPT=0 git clone -q ${git.urlOf('acme/other')} 2>&1 || echo "not cloned"`,
      // In two pieces: the question itself is in the run's files.
      `token='${TOKEN.slice(0, 20)}''${TOKEN.slice(20)}'; basic=$(printf 'x-access-token:%s' "$token" | base64 -w0)`,
      'echo "$token" > $TMPDIR/control',
      `for what in "$token" "$basic"; do grep -rlaF "$what" / --exclude-dir=proc --exclude-dir=sys \\`,
      '  --exclude-dir=usr --exclude-dir=node_modules --exclude-dir=work 2>/dev/null; done | sort -u | sed "s/^/in /"',
      `for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null | grep -c ghp-canary-`,
    ].join('\n'),
    200_000,
  );
  expect(output).toContain('not cloned');
  expect(output.match(/^in .*/gm)).toEqual([expect.stringMatching(/\/control$/)]);
  expect(output).toMatch(/^0$/m);
  expect(log).not.toContain(TOKEN);
}, 240_000);
