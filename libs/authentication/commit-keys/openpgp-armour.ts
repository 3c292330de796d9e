/** Takes the text apart in which OpenPGP packets travel. RFC 9580, 6.2 */

/**
 * Base64 of what stands in the one block of that label, without the lines of text about it; its check sum is left to
 * who reads the packets.
 */
export function armoured(text: string, label: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const blank = lines.indexOf('');
  if (lines[0] !== `-----BEGIN PGP ${label}-----` || lines.at(-1) !== `-----END PGP ${label}-----` || blank < 1)
    return undefined;
  if (!lines.slice(1, blank).every((line) => /^[A-Za-z]+: /.test(line))) return undefined;
  const body = lines.slice(blank + 1, -1).filter((line) => line !== '');
  return (body.at(-1)?.startsWith('=') === true ? body.slice(0, -1) : body).join('');
}
