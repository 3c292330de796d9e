/** The anchor of a heading: `§5.8 Transaction` is `s5-8`, so that its title may change; any other is its words. */

export function anchorOf(heading: string): string {
  const numbered = /^§(\d+)(?:\.(\d+))?/.exec(heading);
  if (numbered) return numbered[2] === undefined ? `s${numbered[1]}` : `s${numbered[1]}-${numbered[2]}`;
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
}
