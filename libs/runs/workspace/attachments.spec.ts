/** Files of a request: bad ones are all found, names stay apart, and none can leave its folder. */
import * as fc from 'fast-check';
import { attachmentProblems, attachmentsOf, distinctNames, isAttachmentName } from '../index.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const pointersOf = (request: Parameters<typeof attachmentProblems>[0]): string[] =>
  attachmentProblems(request).map(({ pointer }) => pointer);

describe('the name of a file', () => {
  it.each([
    { name: 'notes.txt', ok: true, why: 'an ordinary name' },
    { name: 'a'.repeat(128), ok: true, why: '128 characters' },
    { name: 'a'.repeat(129), ok: false, why: '129 characters' },
    { name: '.env', ok: false, why: 'a leading dot' },
    { name: '..', ok: false, why: 'the parent folder' },
    { name: 'a/b', ok: false, why: 'a folder' },
    { name: 'a\\b', ok: false, why: 'a folder elsewhere' },
    { name: 'event-payload.json', ok: false, why: 'the payload of the delivery' },
    { name: 'Event-Payload.JSON', ok: false, why: 'the same on a file system without case' },
    { name: 'prompt.md', ok: false, why: 'the prompt' },
    { name: 'notes.txt\n', ok: false, why: 'a line break' },
    { name: 'a\0b', ok: false, why: 'the end of a name in C' },
    { name: '', ok: false, why: 'no name' },
    { name: 'Quarterly report (final).pdf', ok: true, why: 'blanks, as people write them' },
    { name: 'Screenshot 2026-05-04 at 10.11.12\u202fAM.png', ok: true, why: 'the narrow blank of a screenshot' },
    { name: 'Größe–Übersicht.csv', ok: false, why: 'a dash that looks like another' },
    { name: 'Größe Übersicht.csv', ok: true, why: 'letters of any script' },
    { name: ' notes.txt', ok: false, why: 'a blank at its beginning' },
    { name: 'notes.txt ', ok: false, why: 'a blank at its end' },
    { name: 'a\u202egpj.exe', ok: false, why: 'a turn of the direction of writing' },
    { name: 'a$(b)', ok: false, why: 'what a shell runs' },
    { name: "it's", ok: false, why: 'a quote' },
    { name: 'ä'.repeat(120), ok: true, why: '240 bytes' },
    { name: 'ä'.repeat(121), ok: false, why: '242 bytes' },
  ])('$name: $ok, because $why', ({ name, ok }) => {
    expect(isAttachmentName(name)).toBe(ok);
    expect(attachmentProblems({ attachments: [{ file_name: name }] })).toHaveLength(ok ? 0 : 1);
  });
});

describe('the files of a request', () => {
  it.each([
    { request: {}, pointers: [], why: 'there need be none' },
    {
      request: { attachments: [{ file_name: 'a' }, { file_name: 'A' }] },
      pointers: ['/attachments/1/file_name'],
      why: 'two names stay two files without regard to case',
    },
    {
      request: {
        attachments: [
          { file_name: 'a', data: 'YQ==' },
          { file_name: 'b', data: '' },
        ],
      },
      pointers: [],
      why: 'base64, and an empty file',
    },
    {
      request: { attachments: [{ file_name: 'a', data: 'YQ' }] },
      pointers: ['/attachments/0/data'],
      why: 'no padding',
    },
    {
      request: { attachments: [{ file_name: 'a', data: 'YR==' }] },
      pointers: ['/attachments/0/data'],
      why: 'two texts would be one content',
    },
    {
      request: { attachments: [{ file_name: 'a', data: 'YW E=' }] },
      pointers: ['/attachments/0/data'],
      why: 'a space',
    },
    {
      request: { attachments: [{ file_name: 'a', data: '-_-_' }] },
      pointers: ['/attachments/0/data'],
      why: 'another alphabet',
    },
    {
      request: { attachments: [{ file_name: 'a', data: 'Y===' }] },
      pointers: ['/attachments/0/data'],
      why: 'padding of nothing',
    },
    {
      request: {
        images: [{ mime_type: 'image/png', data: 'YQ==' }],
        attachments: [{ file_name: 'image-1.png', data: '' }],
      },
      pointers: ['/attachments/0/file_name'],
      why: 'images have names, too',
    },
    {
      request: { images: [{ mime_type: 'image/png', data: '?' }] },
      pointers: ['/images/0/data'],
      why: 'images are base64',
    },
    {
      request: { attachments: Array.from({ length: 6 }, (_, index) => ({ file_name: `f${index}` })) },
      pointers: ['/attachments'],
      why: 'at most five',
    },
    {
      request: { images: Array.from({ length: 6 }, () => ({ mime_type: 'image/gif', data: '' })) },
      pointers: ['/images'],
      why: 'images, too',
    },
    {
      request: {
        images: Array.from({ length: 3 }, () => ({ mime_type: 'image/gif', data: '' })),
        attachments: [{ file_name: 'a' }, { file_name: 'b' }, { file_name: 'c' }],
      },
      pointers: ['/attachments'],
      why: 'together',
    },
  ])('name $pointers: $why', ({ request, pointers }) => {
    expect(pointersOf(request)).toEqual(pointers);
  });

  it('of eight megabytes are checked in a moment', () => {
    const data = 'A'.repeat(8 * 1_048_576);
    expect(
      pointersOf({
        attachments: [
          { file_name: 'a', data },
          { file_name: 'b', data: `${data.slice(1)}?` },
        ],
      }),
    ).toEqual(['/attachments/1/data']);
  });

  it('that older clients send as images have names by order and type', () => {
    const request = {
      images: [
        { mime_type: 'image/png', data: '' },
        { mime_type: 'image/jpeg', data: '' },
      ],
      attachments: [{ file_name: 'a.txt', mime_type: 'text/plain', data: '' }],
    };
    expect(attachmentsOf(request).map(({ file_name: name }) => name)).toEqual(['image-1.png', 'image-2.jpg', 'a.txt']);
  });
});

describe('names in one workspace', () => {
  it.each([
    { wanted: ['a.txt'], taken: [], names: ['a.txt'], why: 'nobody has it' },
    { wanted: ['a.txt', 'b'], taken: ['a.txt', 'B'], names: ['a-2.txt', 'b-2'], why: 'the earlier file stays' },
    { wanted: ['a.txt'], taken: ['a.txt', 'a-2.txt'], names: ['a-3.txt'], why: 'the next free number' },
    {
      wanted: ['a-2.txt', 'a.txt'],
      taken: ['a.txt'],
      names: ['a-2.txt', 'a-3.txt'],
      why: 'names of the same request, too',
    },
    {
      wanted: [`${'n'.repeat(124)}.txt`],
      taken: [`${'n'.repeat(124)}.txt`],
      names: [`${'n'.repeat(122)}-2.txt`],
      why: 'not longer than a name may be',
    },
    {
      wanted: [`a.${'e'.repeat(126)}`],
      taken: [`a.${'e'.repeat(126)}`],
      names: [expect.stringMatching(/^a.{127}$/)],
      why: 'nor with a long extension',
    },
    {
      wanted: ['ä'.repeat(120)],
      taken: ['ä'.repeat(120)],
      names: [`${'ä'.repeat(119)}-2`],
      why: 'nor with more bytes',
    },
    { wanted: ['e\u0301'], taken: ['é'], names: ['e\u0301-2'], why: 'an accent that is written otherwise' },
    { wanted: ['prompt.md'], taken: [], names: ['prompt-2.md'], why: 'reserved names are never given out' },
  ])('$wanted beside $taken: $names, because $why', ({ wanted, taken, names }) => {
    expect(distinctNames(wanted, taken)).toEqual(names);
  });

  it('are always distinct and always names', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-zäß0-9 ._-]{0,127}$/).filter(isAttachmentName);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), fc.array(name, { maxLength: 5 }), (wanted, taken) => {
        const given = distinctNames([...wanted, ...wanted], taken);
        expect(new Set([...given, ...taken].map((text) => text.toLowerCase())).size).toBe(
          given.length + new Set(taken.map((text) => text.toLowerCase())).size,
        );
        expect(given.every(isAttachmentName)).toBe(true);
      }),
    );
  });
});
