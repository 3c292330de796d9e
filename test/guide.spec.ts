/** The pages of the guide: commands run as a reader would paste them, links and names lead somewhere. */
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { SIGNATURE_SCHEMES, UNSHIPPED_SCHEMES } from '#authentication';
import { anchorOf } from '../apps/guide/anchors.ts';
import { KNOWN_VARIABLES } from '../apps/server/config/variables.ts';
import {
  blocksOf,
  commandsOf,
  GUIDE,
  IS_BUILT,
  PAGES,
  pageText,
  ROOT,
  runBlocks,
  type Document,
  type Variables,
} from './support/guide/documents.ts';
import { bootService, type TestService } from './support/services/service.ts';

/** `sh` runs here; `console` shows what a reader's own server, host or build server is needed for. */
const LANGUAGES = ['sh', 'console', 'text', 'yaml', 'json', 'toml', 'md', 'ts', 'lua', 'python'];

const TUTORIAL = 'apps/guide/tutorial/first-webhook.md';
const withCommands = PAGES.filter((page) => page.path !== TUTORIAL && commandsOf(page).length > 0);

describe('pages of the guide', () => {
  it('mark each block of code with a language that says whether it runs', () => {
    const others = PAGES.flatMap((page) =>
      blocksOf(page).flatMap(({ language }) => (LANGUAGES.includes(language) ? [] : [`${page.path}: "${language}"`])),
    );
    expect(others).toEqual([]);
  });

  it('link only to pages and sections that exist', () => {
    const broken = PAGES.flatMap((page) =>
      linksOf(page)
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page.path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('name files of the code that exist', () => {
    const folders = ['', 'apps/', 'apps/server/'];
    const named = PAGES.flatMap(({ path, text }) =>
      [...text.matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|tsx|mjs|json|md))`/g)].map((match) => [path, match[1] ?? '']),
    );
    const absent = named.filter(([, name]) => !folders.some((folder) => existsSync(join(ROOT, `${folder}${name}`))));
    expect(absent.filter(([page]) => page?.startsWith('apps/guide/explanation/'))).toEqual([]);
  });

  it('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = PAGES.flatMap(({ text }) =>
      [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map((match) => match[1] ?? ''),
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

describe('variables in the guide', () => {
  const table = pageText('reference/generated/variables.md');
  it.each([...KNOWN_VARIABLES])('%s is explained', (name) => {
    expect(table).toContain(`\`${name}\``);
  });

  it('are all known to the service', () => {
    // The contract also names what is not served yet.
    const explained = PAGES.filter(({ path }) => !path.endsWith('/contract.md')).flatMap(({ text }) =>
      [...text.matchAll(/`(MILLWRIGHT_[A-Z_]+)(?:=\w+)?`/g)].map((match) => match[1] ?? ''),
    );
    expect(explained.filter((name) => !KNOWN_VARIABLES.has(name) && !GIVEN_TO_RUNS.has(name))).toEqual([]);
  });
});

/** Set by the service for a run, never read by it. */
const GIVEN_TO_RUNS = new Set(['MILLWRIGHT_RUN_ID', 'MILLWRIGHT_EXECUTION_EPOCH']);

describe('schemes that are served', () => {
  const row = pageText('how-to/write-definitions.md')
    .split('\n')
    .find((line) => line.startsWith('| `signatureScheme`'));
  it.each([...SIGNATURE_SCHEMES.keys()])('%s is named where webhook files are described', (id) => {
    expect(row).toContain(`\`${id}\``);
  });
});

describe('schemes that are not served', () => {
  const page = pageText('reference/signature-schemes.md');
  it.each([...UNSHIPPED_SCHEMES])('%s stands beside its reason', (id, reason) => {
    const row = page.split('\n').find((line) => line.startsWith(`| ${reason} |`)) ?? '';
    expect(row).toContain(`\`${id}\``);
  });
});

(IS_BUILT ? describe : describe.skip)(
  `shell commands of the guide${IS_BUILT ? '' : ' (skipped: run through npm test, which builds first)'}`,
  () => {
    let folder = '';
    let service: TestService;
    const variables: Variables = {};

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'millwright-guide-'));
      const tutorial = join(folder, 'tutorial');
      await mkdir(join(tutorial, '.millwright'), { recursive: true, mode: 0o700 });
      service = await bootService({ dataDir: join(folder, 'data') });
      await writeFile(join(tutorial, '.millwright/admin-key'), `${service.adminKey}\n`, { mode: 0o600 });
      variables['MILLWRIGHT_SERVER'] = service.url;
    });
    afterAll(async () => {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it('the tutorial leads from an empty folder to a run for each delivery', async () => {
      const tutorial = PAGES.find(({ path }) => path === TUTORIAL) as Document;
      expect(await runBlocks(tutorial, join(folder, 'tutorial'), variables, service)).toBeUndefined();
      const { body } = await service.api('GET', `/agent/runs?factory_uid=${variables['FACTORY']}`);
      expect(body['runs']).toHaveLength(2);
    }, 120_000);

    // Every page begins where the tutorial ends.
    it.each(withCommands.map((page) => [page.path, page] as const))(
      '%s: every block ends without an error, in order',
      async (path, page) => {
        const own = join(folder, path.replaceAll('/', '-'));
        await cp(join(folder, 'tutorial'), own, { recursive: true });
        expect(await runBlocks(page, own, { ...variables }, service)).toBeUndefined();
      },
      120_000,
    );
  },
);

/** Targets of links that do not lead to another site. */
function linksOf({ text }: Document): string[] {
  return [...text.replace(/^```[\s\S]*?^```$|`[^`\n]*`/gm, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((link) => !/^\w+:/.test(link));
}

function leadsSomewhere(page: Document, link: string): boolean {
  const [target = '', section] = link.split('#');
  const file = target === '' ? join(ROOT, page.path) : resolve(ROOT, dirname(page.path), target);
  if (!file.startsWith(GUIDE) || !existsSync(file)) return false;
  if (section === undefined) return true;
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1] ?? ''));
  return headings.includes(section);
}
