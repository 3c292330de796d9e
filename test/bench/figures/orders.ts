/** In which order things are measured that leave something to each other. */

/**
 * The same list, each round with other neighbours: what a load leaves to the next one (large bodies are garbage that is
 * collected then) falls on another item each time, so that no quartile has it. In as many rounds as there are items,
 * twice as many where their number is odd, each stands in each place, and behind each other one, as often. E. J.
 * Williams, Experimental designs balanced for the estimation of residual effects of treatments, 1949.
 */
export function inAnotherOrder<T>(round: number, list: readonly T[]): T[] {
  const { length } = list;
  const order = list.map((_, place) => list[(round + zigzag(place, length)) % length] as T);
  return length % 2 === 1 && Math.floor(round / length) % 2 === 1 ? order.reverse() : order;
}

/** 0, n − 1, 1, n − 2, 2 …: each step has another length. */
function zigzag(place: number, length: number): number {
  return place % 2 === 0 ? place / 2 : length - (place + 1) / 2;
}
