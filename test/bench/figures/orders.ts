/** In which order things are measured that leave something to each other. */

/**
 * The same list, each round with other neighbours: what a load leaves to the next one (large bodies are garbage that is
 * collected then) falls on another item each time, so that no quartile has it.
 */
export function inAnotherOrder<T>(round: number, list: readonly T[]): T[] {
  const steps = list.map((_, at) => at + 1).filter((step) => isCoprime(step, list.length));
  const step = steps[round % steps.length] ?? 1;
  return list.map((_, at) => list[(round + at * step) % list.length] as T);
}

function isCoprime(a: number, b: number): boolean {
  return b === 0 ? a === 1 : isCoprime(b, a % b);
}
