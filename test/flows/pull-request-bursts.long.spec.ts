/**
 * A thousand commits pushed in bursts over fifty pull requests: every one ends with a status that waits for nothing.
 * That takes ten seconds after the last push at most, more only as far as the machine starts programs more slowly than
 * usual. contract §9.9 (Feedback in pull requests).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncAndGetStatus, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { answeredFactory, pushPull, type AnsweredFactory } from '../support/forges/answered-factories.ts';
import { environment } from '../support/git/git-repository.ts';
import { bootWithRepositories, type ServiceWithRepositories } from '../support/git/git-factories.ts';
import { eventually } from '../support/services/service.ts';

const PULLS = 50;
const BURSTS = 10;
/** Pushed together to each pull request. */
const COMMITS = 2;
/** Milliseconds from the last push until every commit is terminal. */
const TERMINAL_MS = 10_000;
/** Milliseconds in which an ordinary machine of two cores has started git and seen it end. */
const SPAWN_MS = 15;

let world: ServiceWithRepositories;

beforeAll(async () => {
  world = await bootWithRepositories();
});
afterAll(() => world.stop());

const numbers = Array.from({ length: PULLS }, (_, at) => at + 1);
const stateOf = ({ forge, slug }: AnsweredFactory, commit: string): string =>
  forge.statusOf(commit, `millwright/${slug}`)?.state ?? 'none';
const waiting = (of: AnsweredFactory, commits: readonly string[]): string[] =>
  commits.filter((commit) => ['none', 'pending'].includes(stateOf(of, commit)));

/** How much longer programs take here and now; 1 on an ordinary machine, and a fast one. */
function slownessOf(): number {
  const beganAtMs = performance.now();
  for (let count = 0; count < 20; count += 1) execFileSync('git', ['--version'], { env: environment() });
  return Math.max(1, (performance.now() - beganAtMs) / 20 / SPAWN_MS);
}

/** Pushes to every pull request at once, and answers the commits that are new at the forge. */
function pushToAll({ repository, forge }: AnsweredFactory, burst: number): string[] {
  const input = numbers.flatMap((number) =>
    Array.from({ length: COMMITS }, (_, at) => {
      const text = `${webhookFile('hook-token')}# ${burst}.${at}\n`;
      const from = at === 0 ? `from refs/heads/topic-${number}^0\n` : '';
      return (
        `commit refs/heads/topic-${number}\nmark :${number * 10 + at}\n` +
        `committer Test <test@example.com> 1700000000 +0000\ndata 6\nchange\n${from}` +
        `M 100644 inline ${webhookPath(`w${number}`)}\ndata ${Buffer.byteLength(text)}\n${text}\n`
      );
    }),
  );
  const marksFile = join(repository.folder, 'marks');
  execFileSync('git', ['fast-import', '--quiet', '--force', `--export-marks=${marksFile}`], {
    cwd: repository.folder,
    env: environment(),
    input: input.join(''),
  });
  const marks = readFileSync(marksFile, 'utf8');
  const ids = new Map(marks.split('\n').map((line) => line.split(' ') as [string, string]));
  const refs: string[] = [];
  const pushed = numbers.flatMap((number) => {
    const commits = Array.from({ length: COMMITS }, (_, at) => ids.get(`:${number * 10 + at}`) ?? '');
    const pull = forge.pulls.get(number);
    refs.push(`update refs/pull/${number}/head ${commits.at(-1)}\n`);
    forge.open({ ...pull, number, head: commits.at(-1) ?? '', commits: [...(pull?.commits ?? []), ...commits] });
    return commits;
  });
  execFileSync('git', ['update-ref', '--stdin'], {
    cwd: repository.folder,
    env: environment(),
    input: refs.join(''),
  });
  return pushed;
}

it('a thousand commits in ten bursts over fifty pull requests are all terminal', async () => {
  const of = await answeredFactory(world, 'github');
  const opened = numbers.map((number) =>
    pushPull(of, number, { [webhookPath(`w${number}`)]: webhookFile('hook-token') }),
  );
  await syncAndGetStatus(world.service, of.uid);
  await eventually('all are listed, and judged', () => waiting(of, opened).length === 0 || undefined, 120_000);
  const pushed: string[] = [];
  for (let burst = 0; burst < BURSTS; burst += 1) {
    pushed.push(...pushToAll(of, burst));
    await syncAndGetStatus(world.service, of.uid); // as a notice of the forge does
  }
  const lastAtMs = performance.now();
  expect(new Set(pushed).size).toBe(PULLS * BURSTS * COMMITS);
  const heads = [...of.forge.pulls.values()].map(({ head }) => head);
  await eventually('every head has a verdict', () => waiting(of, heads).length === 0 || undefined, 120_000);
  const headsMs = performance.now() - lastAtMs;
  await eventually('every commit is terminal', () => waiting(of, pushed).length === 0 || undefined, 120_000);
  const allMs = performance.now() - lastAtMs;
  const slowness = slownessOf();
  process.stderr.write(
    `bursts: heads ${Math.round(headsMs)} ms, all ${Math.round(allMs)} ms after the last push ` +
      `(programs take ${slowness.toFixed(1)} times as long as usual)\n`,
  );
  expect(allMs).toBeLessThan(TERMINAL_MS * slowness);
  expect(new Set(heads.map((head) => stateOf(of, head)))).toEqual(new Set(['success']));
  await of.forge.close();
}, 400_000);
