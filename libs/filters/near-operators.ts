/** Knows which field names of a filter were probably meant as operators. contract §7.4 (nearly an operator). */

import { foldLookAlikes } from './look-alikes.ts';

/** The operators of a filter. */
export type SetOrPresence = 'in' | 'not_in' | 'exists';

/** Spellings without their punctuation, of other filter languages too. */
const SPELLINGS: Readonly<Record<string, SetOrPresence>> = {
  ...spellingsOf('in', 'in ins inn isin inlist oneof any anyof isoneof eq equal equals'),
  ...spellingsOf('not_in', 'notin notins notinn nottin noin nin isnotin noneof notoneof not ne neq notequal notequals'),
  ...spellingsOf('exists', 'exists exist exits exsits exsist exsists existst existing isset present ispresent'),
};

const LIST_VALUES = 'list whole values with in, exclude others with not_in, or let the run decide';
const ALL_MATCH = 'keys that stand beside each other must all match as it is';
const OWN_TRIGGER = 'write a trigger of its own for each alternative';

/** Operators of other filter languages that nothing here does, with what is done instead. */
const FOREIGN: Readonly<Record<string, string>> = {
  ...foreign(LIST_VALUES, 'contains startswith endswith matches regex regexp glob wildcard between'),
  ...foreign(LIST_VALUES, 'gt gte lt lte greaterthan lessthan greaterthanorequal lessthanorequal'),
  ...foreign(ALL_MATCH, 'and all allof'),
  ...foreign(OWN_TRIGGER, 'or nor xor'),
};

/** Longer names are nobody's operator. */
const NAME_LENGTH_MAX = 24;

/**
 * The operator that a name beside no other was meant as: it is nearly one, and its value is what that operator takes.
 * Undefined for operators themselves.
 */
export function operatorMeantBy(name: string, value: unknown): SetOrPresence | undefined {
  if (name.length > NAME_LENGTH_MAX || name === 'in' || name === 'not_in' || name === 'exists') return undefined;
  const letters = foldLookAlikes(name).replace(/[^a-z]/g, '');
  const spelling = Object.hasOwn(SPELLINGS, letters) ? SPELLINGS[letters] : undefined;
  const meant = spelling === 'in' && name.startsWith('!') ? 'not_in' : spelling;
  return meant !== undefined && isOperandOf(meant, value) ? meant : undefined;
}

/** What is done instead of the operator of another filter language; undefined for names of fields. */
export function insteadOfForeign(name: string, value: unknown): string | undefined {
  if (name.length > NAME_LENGTH_MAX || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  const letters = foldLookAlikes(name).replace(/[^a-z]/g, '');
  return Object.hasOwn(FOREIGN, letters) ? FOREIGN[letters] : undefined;
}

/** Presence is asked for with a boolean, also with one that stands in a list. */
function isOperandOf(operator: SetOrPresence, value: unknown): boolean {
  if (operator !== 'exists') return Array.isArray(value);
  return typeof value === 'boolean' || (Array.isArray(value) && value.length === 1 && typeof value[0] === 'boolean');
}

function spellingsOf(operator: SetOrPresence, words: string): Record<string, SetOrPresence> {
  return Object.fromEntries(words.split(' ').map((word) => [word, operator]));
}

function foreign(instead: string, words: string): Record<string, string> {
  return Object.fromEntries(words.split(' ').map((word) => [word, instead]));
}
