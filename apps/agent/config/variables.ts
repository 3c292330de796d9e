/** How one variable is read: a number, a choice, a switch; what does not fit is reported by name and rule. */

/** Where variables come from and where problems go. */
export interface Values {
  /** Undefined when it is not set or blank. */
  get(name: string): string | undefined;
  report(problem: string): void;
}

/** A whole number of at least `min`. */
export function wholeNumber(values: Values, name: string, { min }: { min: number }): number | undefined {
  const text = values.get(name);
  if (text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text) && Number(text) >= min) return Number(text);
  values.report(`${name} must be a whole number, at least ${min}`);
  return undefined;
}

/** Money: a decimal number of at least zero. */
export function amount(values: Values, name: string): number | undefined {
  const text = values.get(name);
  if (text === undefined) return undefined;
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text);
  values.report(`${name} must be an amount per million tokens, like 2.5`);
  return undefined;
}

/** One of a few words. */
export function oneOf<Word extends string>(values: Values, name: string, words: readonly Word[]): Word | undefined {
  const text = values.get(name);
  const word = words.find((known) => known === text);
  if (text !== undefined && word === undefined) values.report(`${name} must be one of ${words.join(', ')}`);
  return word;
}

/** `true` or `false`; false when it is not set. */
export function flag(values: Values, name: string): boolean {
  return oneOf(values, name, ['true', 'false']) === 'true';
}
