/** Knows letters of other scripts, and marks that nobody sees, in words that are written in ASCII. */

/** Letters that look like the one before the colon, in lower case. */
const LOOK_ALIKES = new Map(
  'a:аα b:в c:с d:ԁ e:еёε g:ɡ h:нһ i:іιı j:ј k:кκ m:м n:пη o:оο p:рρ q:ԛ r:г s:ѕ t:тτ u:υ v:ν w:ԝ x:хχ y:у'
    .split(' ')
    .flatMap((entry) => Array.from(entry.slice(2), (letter) => [letter, entry.charAt(0)] as const)),
);

/** The word in lower case, its look-alikes as the letters that they look like; what is invisible is left out. */
export function foldLookAlikes(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .replace(
      /[^\x21-\x7e]/gu,
      (character) => LOOK_ALIKES.get(character) ?? (/[\p{Z}\p{C}]/u.test(character) ? '' : character),
    );
}

/** Words for people about a name that looks like another one and is none; empty for plain ones. */
export function lookAlikeWords(name: string): string {
  if (!/[^\x20-\x7e]/.test(name) || /[^\x20-\x7e]/.test(foldLookAlikes(name))) return '';
  return ' (a character of it is invisible, or only looks like a letter of ours)';
}
