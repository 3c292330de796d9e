/** Which versions a request that changes something is about. contract §4.1 (If-Match). */
import { wantedVersion } from './conditional-requests.ts';

describe('If-Match', () => {
  it.each<{ header: string | undefined; of7: boolean; why: string }>([
    { header: undefined, of7: true, why: 'not sent: whatever the version' },
    { header: '*', of7: true, why: 'any version' },
    { header: '"7"', of7: true, why: 'this version' },
    { header: 'W/"7"', of7: true, why: 'this version through a proxy that compresses' },
    { header: '"6", "7"', of7: true, why: 'one of several' },
    { header: '"6"', of7: false, why: 'another version' },
    { header: '"07"', of7: false, why: 'tags are texts, not numbers' },
    { header: '""', of7: false, why: 'an empty tag is a tag' },
  ])('$header: $why', ({ header, of7 }) => {
    expect(wantedVersion(header)(7)).toBe(of7);
  });

  it.each([
    ['7', 'a bare number'],
    ['', 'empty'],
    ['"7', 'half a tag'],
    ['"7" "8"', 'no comma'],
    ['"7",', 'nothing behind the comma'],
    ['w/"7"', 'a lower-case w'],
  ])('%s is malformed: %s', (header) => {
    expect(() => wantedVersion(header)).toThrow(
      expect.objectContaining({ status: 400, errors: [expect.objectContaining({ pointer: 'If-Match' })] }),
    );
  });

  it('is missing where it is required', () => {
    expect(() => wantedVersion(undefined, true)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining('If-Match is required') }),
    );
    expect(wantedVersion('"7"', true)(7)).toBe(true);
  });
});
