/** What drawn charts have in common. */
import type { TimeTexts } from './spans.ts';

/** Pixels; the same before there is anything to draw, so that nothing moves. */
export const HEIGHT = 240;

/** A size before the real one is measured: the library warns of charts without one. */
export const sized = { container: { initialDimension: { width: 320, height: HEIGHT } } };

export function xAxisOf({ axis }: TimeTexts) {
  return { tickFormatter: (from: string) => axis(from), minTickGap: 24 };
}

export function tooltipOf({ whole }: TimeTexts) {
  return { labelFormatter: (from: unknown) => (typeof from === 'string' ? whole(from) : '') };
}
