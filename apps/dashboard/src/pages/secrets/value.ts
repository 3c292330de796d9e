/** What a typed value becomes, and what people should know about it before it is set. */

/** Without one final line end, as the command line takes it from a file, unless that one is part of the value. */
export function valueOf(typed: string, isNewlineKept: boolean): string {
  return isNewlineKept ? typed : typed.replace(/\r?\n$/, '');
}

/** Oddities that are part of a value and rarely meant to be. */
export function oddityOf(value: string): string | undefined {
  if (value === '') return undefined;
  if (/^[\s\ufeff]|\s$/.test(value))
    return 'It begins or ends with white space or a byte order mark, which is part of it.';
  return value.length < 8
    ? 'It has fewer than 8 characters: runs cannot be given it, because it could not be kept out of their logs.'
    : undefined;
}
