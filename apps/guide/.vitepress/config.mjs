/** How the guide is built: a static site with local search, below a base that the service fills in. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../anchors.ts';
import { codeStyles, styleToClass } from './code-classes.mjs';

const PAGES = join(import.meta.dirname, '..');

/** The service replaces `/__BASE__/` by the path of its public address. */
const BASE = '/__BASE__/docs/guide/';

const CODE_STYLES = 'code.css';

/** Writes whose code the pages hold, for the notices of whoever ships them: folders, as seen from the root. */
const packageList = {
  name: 'package-list',
  generateBundle(_options, bundle) {
    const root = join(PAGES, '../..');
    const ids = Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
    const folders = ids.flatMap((id) => /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []);
    const source = JSON.stringify([...new Set(folders)].map((path) => path.slice(root.length + 1)).sort());
    this.emitFile({ type: 'asset', fileName: 'packages.json', source });
  },
};

const page = (path) => ({ text: titleOf(path), link: `/${path}` });
const folder = (name) =>
  readdirSync(join(PAGES, name))
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .sort()
    .map((file) => page(`${name}/${file.replace(/\.md$/, '')}`));

export default defineConfig({
  base: BASE,
  lang: 'en',
  title: 'Millwright',
  description: 'GitOps for agent factories: the guide.',
  outDir: '../../dist/guide',
  cacheDir: '../../dist/.guide-cache',
  cleanUrls: true,
  // Without this the theme writes a style element whenever colours change, which the content policy refuses.
  appearance: { disableTransition: false },
  // Data of the pages is a file and not an inline script.
  metaChunk: true,
  head: [['link', { rel: 'stylesheet', href: `${BASE}${CODE_STYLES}` }]],
  vite: { plugins: [packageList] },
  markdown: {
    anchor: { slugify: anchorOf },
    // Braces in the text are braces: `/factory/{uid}`.
    attrs: { disable: true },
    codeTransformers: [styleToClass],
    languageAlias: { console: 'shellsession' },
  },
  // What the theme would write into style attributes is in its style sheet.
  transformHtml: (code) => code.replaceAll(/ style="(--vp-vh:0px;|position:relative;)"/g, ''),
  buildEnd: ({ outDir }) => writeFileSync(join(outDir, CODE_STYLES), codeStyles()),
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    externalLinkIcon: true,
    nav: [
      { text: 'Tutorial', link: '/tutorial/first-webhook' },
      { text: 'How-to', link: '/how-to/run-the-service', activeMatch: '/how-to/' },
      {
        text: 'Reference',
        link: '/reference/generated/variables',
        activeMatch: '/reference/|/contract|/specification',
      },
      { text: 'Explanation', link: '/explanation/architecture', activeMatch: '/explanation/|/decisions/' },
    ],
    sidebar: [
      { text: 'Tutorial', items: [page('tutorial/first-webhook')] },
      {
        text: 'How-to',
        items: [
          'install',
          'run-the-service',
          'write-definitions',
          'environments-and-skills',
          'follow-a-repository',
          'validate-in-ci',
          'ci-without-a-stored-key',
          'use-the-command-line',
          'send-deliveries',
          'start-runs',
          'use-coding-agents',
          'limit-runs',
          'use-the-web-page',
          'use-client-libraries',
          'factories-without-a-repository',
          'operate',
          'size-an-installation',
          'monitor',
          'run-many-machines',
          'harden-an-installation',
          'troubleshoot',
          'high-availability',
          'upgrade',
          'rotate-keys',
        ].map((name) => page(`how-to/${name}`)),
      },
      {
        text: 'Reference',
        items: [
          ...[
            'variables',
            'definition-keys',
            'rules',
            'command-line',
            'errors',
            'hosted-methods',
            'metrics',
            'limits',
            'licences',
          ].map((name) => page(`reference/generated/${name}`)),
          ...['api', 'conditions', 'limits', 'signature-schemes'].map((name) => page(`reference/${name}`)),
          ...['contract', 'specification', 'glossary'].map(page),
        ],
      },
      {
        text: 'Explanation',
        items: [
          'architecture',
          'code-map',
          'invariants',
          'gitops',
          'agents',
          'sandbox-and-network',
          'recovery',
          'retention-and-disk',
          'figures',
          'differences',
        ].map((name) => page(`explanation/${name}`)),
      },
      {
        text: 'Decisions',
        collapsed: true,
        items: [{ text: 'All decisions', link: '/decisions/' }, ...folder('decisions')],
      },
      { text: 'Project', items: [page('contributing'), page('changelog')] },
    ],
    footer: { message: 'Apache-2.0' },
  },
});

/** The first heading of a page, also of one that is included. */
function titleOf(path) {
  const text = readFileSync(join(PAGES, `${path}.md`), 'utf8');
  const included = /^<!--@include: (.+)-->/.exec(text)?.[1];
  return /^# (.+)$/m.exec(included === undefined ? text : readFileSync(join(PAGES, included), 'utf8'))?.[1] ?? path;
}
