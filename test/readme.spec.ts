/** The README is short, its links lead somewhere, and its commands are run as a new user would paste them. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsOf, IS_BUILT, README, ROOT, runBlocks, type Variables } from './support/guide/documents.ts';
import { bootService, type TestService } from './support/services/service.ts';

/** What it is, run it, first webhook, CI, where everything else is: more belongs into the guide. */
const LINES_MAX = 300;

describe('the README', () => {
  it(`has at most ${LINES_MAX} lines`, () => {
    expect(README.text.split('\n').length).toBeLessThanOrEqual(LINES_MAX);
  });

  it('links only to files that exist', () => {
    const links = [...README.text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map((match) => match[1] ?? '');
    expect(links.filter((link) => !link.includes('://') && !existsSync(join(ROOT, link)))).toEqual([]);
  });
});

describe('npm commands of the README', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = commandsOf(README)
    .flatMap((block) => [...block.matchAll(/^npm (?:run )?([\w:]+)/gm)].map((match) => match[1] ?? ''))
    .filter((name) => name !== 'link');
  it.each(named)('npm %s is a script', (name) => {
    expect(scripts[name]).toBeDefined();
  });
});

(IS_BUILT ? describe : describe.skip)(
  `shell commands of the README${IS_BUILT ? '' : ' (skipped: run through npm test, which builds first)'}`,
  () => {
    let folder = '';
    let service: TestService;
    const variables: Variables = {};

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'millwright-readme-'));
      await mkdir(join(folder, '.millwright'), { mode: 0o700 });
      service = await bootService({ dataDir: join(folder, '.millwright') });
      await writeFile(join(folder, '.millwright/admin-key'), `${service.adminKey}\n`, { mode: 0o600 });
      variables['MILLWRIGHT_SERVER'] = service.url;
    });
    afterAll(async () => {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it('every block ends without an error, in order, and the deliveries start runs', async () => {
      expect(await runBlocks(README, folder, variables, service)).toBeUndefined();
      const { body } = await service.api('GET', `/agent/runs?factory_uid=${variables['FACTORY']}`);
      expect(body['runs']).toHaveLength(2);
    }, 120_000);
  },
);
