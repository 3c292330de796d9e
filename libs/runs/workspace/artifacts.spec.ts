/** What is kept of a run's files: which artifact each is, under a name that is safe everywhere. */
import * as fc from 'fast-check';
import { artifactName, linkArtifact, mimeTypeOf, readArtifact, readReport } from '../index.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const read = (name: string, text: string, folder: '' | 'artifacts' = 'artifacts') =>
  readArtifact(folder, name, Buffer.from(text));

describe('a file that a run leaves', () => {
  it('is a FILE with its path, size, type and digest', () => {
    expect(read('Report final.html', '<p>')).toEqual({
      type: 'FILE',
      details: {
        fileName: 'Report_final.html',
        filePath: 'artifacts/Report_final.html',
        mimeType: 'text/html',
        sizeBytes: 3,
        digest: '33f2799467177287a29260780a107ac98ea63dd6165f67fcc0d74767d0a82090',
      },
    });
  });

  it.each([
    {
      name: 'pull-request.json',
      text: '{"url":"https://forge.example/acme/app/pull/7","branch":"fix/it"}',
      type: 'PULL_REQUEST',
      more: { url: 'https://forge.example/acme/app/pull/7', branch: 'fix/it' },
      why: 'a link and its branch',
    },
    {
      name: 'pull-request.json',
      text: '{"url":"javascript:alert(1)","branch":"x"}',
      type: 'FILE',
      more: {},
      why: 'not an address of the web',
    },
    {
      name: 'pull-request.json',
      text: '{"url":"https://x.example/a\\nb","branch":"x"}',
      type: 'FILE',
      more: {},
      why: 'a line break in an address',
    },
    { name: 'pull-request.json', text: '{"url":"https://x.example"}', type: 'FILE', more: {}, why: 'no branch' },
    {
      name: 'pull-request.json',
      text: '{"url":"https://x.example","branch":"a b"}',
      type: 'FILE',
      more: {},
      why: 'no branch is called so',
    },
    {
      name: 'pull-request.json',
      text: '{"url":"https://me:word@x.example/a","branch":"x"}',
      type: 'FILE',
      more: {},
      why: 'an address that holds credentials',
    },
    { name: 'pull-request.json', text: 'null', type: 'FILE', more: {}, why: 'nothing' },
    { name: 'pull-request.json', text: '{', type: 'FILE', more: {}, why: 'no JSON' },
    {
      name: 'plan.md',
      text: 'Intro\n\n## Move the `orders` table ##\n',
      type: 'PLAN',
      more: { title: 'Move the `orders` table ##', fileName: 'plan.md' },
      why: 'a plan with a heading',
    },
    { name: 'plan.md', text: 'no heading', type: 'PLAN', more: { fileName: 'plan.md' }, why: 'a plan without one' },
    {
      name: 'plan.md',
      text: `# ${'x'.repeat(500)}`,
      type: 'PLAN',
      more: { title: 'x'.repeat(200) },
      why: 'a title is a line of a list',
    },
    { name: 'Plan.md', text: '# x', type: 'FILE', more: {}, why: 'another name' },
  ])('called $name is a $type: $why', ({ name, text, type, more }) => {
    const found = read(name, text);
    expect(found).toMatchObject({ type, details: more });
    expect(found.details.fileName === undefined).toBe(type === 'PULL_REQUEST');
  });

  it('means nothing special at the top of the workspace', () => {
    expect(read('plan.md', '# x', '')).toMatchObject({ type: 'FILE', details: { filePath: 'plan.md' } });
  });

  it('with a hostile heading is read in a moment', () => {
    expect(read('plan.md', `# ${'#'.repeat(5_000_000)}x`).details.title).toHaveLength(200);
    expect(read('plan.md', `#${' '.repeat(5_000_000)}\n# end`).details.title).toBe('end');
  });
});

describe('a kept name', () => {
  it.each([
    { name: '../../etc/passwd', kept: '_.._etc_passwd', why: 'no folder, no leading dot' },
    { name: '...', kept: 'file', why: 'something is left of every name' },
    { name: '', kept: 'file', why: 'even of none' },
    { name: 'a"; filename="b', kept: 'a___filename__b', why: 'a header cannot be ended' },
    { name: 'a\r\nX: y', kept: 'a__X__y', why: 'nor a new one begun' },
    { name: '-rf', kept: '-rf', why: 'a name of its own folder is no option' },
    { name: 'ü😀', kept: '___', why: 'ASCII only' },
    { name: 'x'.repeat(300), kept: 'x'.repeat(128), why: 'bounded' },
  ])('of $name is $kept: $why', ({ name, kept }) => {
    expect(artifactName(name)).toBe(kept);
  });

  it('is always safe', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) =>
        expect(artifactName(name)).toMatch(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/),
      ),
    );
  });
});

it.each([
  ['a.PNG', 'image/png'],
  ['a.tar.gz', 'application/gzip'],
  ['Makefile', 'application/octet-stream'],
  ['a.exe', 'application/octet-stream'],
  ['constructor', 'application/octet-stream'],
  ['a.constructor', 'application/octet-stream'],
])('%s is %s', (name, type) => {
  expect(mimeTypeOf(name)).toBe(type);
});

describe('what an agent reports', () => {
  const link = { type: 'PULL_REQUEST', url: 'https://forge.example/7' };
  it.each<{ why: string; said: unknown; read: unknown }>([
    {
      why: 'a file, its title on one line',
      said: { type: 'FILE', path: '/w/a', title: ` A\u0000\nb\ud800${'x'.repeat(300)}`, size_bytes: 5 },
      read: { type: 'FILE', path: '/w/a', title: `A b ${'x'.repeat(194)}` },
    },
    { why: 'a plan without a title', said: { type: 'PLAN', path: 'p', title: ' ' }, read: { type: 'PLAN', path: 'p' } },
    {
      why: 'a link and its branch',
      said: { ...link, branch: 'fix/it', title: 'Fix' },
      read: { ...link, branch: 'fix/it', title: 'Fix' },
    },
    { why: 'a branch that is none is left out', said: { ...link, branch: 'a b' }, read: link },
    ...[
      'javascript:alert(1)',
      'https://me:word@x.example/',
      'https://x.example/a b',
      'https://',
      'https://x.example/\ud800',
      `https://x.example/${'x'.repeat(2_000)}`,
      7,
    ].map((url) => ({ why: `no address: ${String(url).slice(0, 30)}`, said: { ...link, url }, read: undefined })),
    ...[
      undefined,
      null,
      'FILE',
      [],
      { type: 'FILE' },
      { type: 'FILE', path: '' },
      { type: 'FILE', path: 'a\0' },
      { type: 'FILE', path: 'x'.repeat(5_000) },
      { type: 'OTHER', path: 'a' },
    ].map((said) => ({ why: 'nothing that we know', said, read: undefined })),
  ])('$why', ({ said, read }) => expect(readReport(said)).toEqual(read));

  it('names the kind and title of a file, wherever it lies, by a safe path', () => {
    expect(readArtifact('src/../a b', 'n\u202e.md', Buffer.from('# Head'), { type: 'PLAN' })).toMatchObject({
      type: 'PLAN',
      details: { filePath: 'src/file/a_b/n_.md', fileName: 'n_.md', title: 'Head' },
    });
    expect(readArtifact('', 'a', Buffer.from('# Head'), { type: 'FILE', title: 'Called' })).toMatchObject({
      type: 'FILE',
      details: { filePath: 'a', title: 'Called' },
    });
  });

  it('is another artifact when the link says something else', () => {
    const [one, two] = [
      linkArtifact({ type: 'PULL_REQUEST', url: 'https://x.example/7' }),
      linkArtifact({ type: 'PULL_REQUEST', url: 'https://x.example/7', branch: 'b' }),
    ];
    expect([one.details.filePath, one.details.fileName, one.details.digest === two.details.digest]).toEqual([
      'https://x.example/7',
      undefined,
      false,
    ]);
  });
});
