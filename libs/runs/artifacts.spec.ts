/** What is kept of a run's files: which artifact each is, under a name that is safe everywhere. */
import * as fc from 'fast-check';
import { keptName, mimeTypeOf, readArtifact } from './index.ts';

const read = (name: string, text: string, folder: '' | 'artifacts' = 'artifacts') => readArtifact(folder, name, Buffer.from(text));

describe('a file that a run leaves', () => {
  it('is a FILE with its path, size, type and digest', () => {
    expect(read('Report final.html', '<p>')).toEqual({
      type: 'FILE',
      details: {
        fileName: 'Report_final.html', filePath: 'artifacts/Report_final.html', mimeType: 'text/html', sizeBytes: 3,
        digest: '33f2799467177287a29260780a107ac98ea63dd6165f67fcc0d74767d0a82090',
      },
    });
  });

  it.each([
    { name: 'pull-request.json', text: '{"url":"https://forge.example/acme/app/pull/7","branch":"fix/it"}', type: 'PULL_REQUEST', more: { url: 'https://forge.example/acme/app/pull/7', branch: 'fix/it' }, why: 'a link and its branch' },
    { name: 'pull-request.json', text: '{"url":"javascript:alert(1)","branch":"x"}', type: 'FILE', more: {}, why: 'not an address of the web' },
    { name: 'pull-request.json', text: '{"url":"https://x.example/a\\nb","branch":"x"}', type: 'FILE', more: {}, why: 'a line break in an address' },
    { name: 'pull-request.json', text: '{"url":"https://x.example"}', type: 'FILE', more: {}, why: 'no branch' },
    { name: 'pull-request.json', text: '{"url":"https://x.example","branch":"a b"}', type: 'FILE', more: {}, why: 'no branch is called so' },
    { name: 'pull-request.json', text: 'null', type: 'FILE', more: {}, why: 'nothing' },
    { name: 'pull-request.json', text: '{', type: 'FILE', more: {}, why: 'no JSON' },
    { name: 'plan.md', text: 'Intro\n\n## Move the `orders` table ##\n', type: 'PLAN', more: { title: 'Move the `orders` table ##', fileName: 'plan.md' }, why: 'a plan with a heading' },
    { name: 'plan.md', text: 'no heading', type: 'PLAN', more: { fileName: 'plan.md' }, why: 'a plan without one' },
    { name: 'plan.md', text: `# ${'x'.repeat(500)}`, type: 'PLAN', more: { title: 'x'.repeat(200) }, why: 'a title is a line of a list' },
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
    expect(keptName(name)).toBe(kept);
  });

  it('is always safe', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => expect(keptName(name)).toMatch(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/)));
  });
});

it.each([['a.PNG', 'image/png'], ['a.tar.gz', 'application/gzip'], ['Makefile', 'application/octet-stream'], ['a.exe', 'application/octet-stream'], ['constructor', 'application/octet-stream'], ['a.constructor', 'application/octet-stream']])('%s is %s', (name, type) => {
  expect(mimeTypeOf(name)).toBe(type);
});
