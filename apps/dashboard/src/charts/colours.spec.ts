/** What is counted apart looks apart: on a light page and on a dark one, to every kind of colour vision. */
import { LATENCY_COLORS, OUTCOME_COLORS, STATE_COLORS } from './colours.ts';

type Rgb = readonly [number, number, number];
type Matrix = readonly [Rgb, Rgb, Rgb];

/** How colours look without one kind of cones, in linear light (Machado, Oliveira and Fernandes 2009, severity 1). */
const VISIONS: Readonly<Record<string, Matrix>> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const TO_CONES: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_OKLAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];
/** In OKLab, where 0.02 is the least that people see side by side. */
const APART = 0.08;

const times = (matrix: Matrix, [x, y, z]: Rgb): Rgb =>
  matrix.map(([a, b, c]) => a * x + b * y + c * z) as unknown as Rgb;
const each = (color: Rgb, change: (part: number) => number): Rgb => color.map(change) as unknown as Rgb;

function linear(hex: string): Rgb {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Rgb;
  return each(parts, (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
}

function seen(hex: string, vision: Matrix): Rgb {
  const light = each(times(vision, linear(hex)), (part) => Math.min(1, Math.max(0, part)));
  return times(TO_OKLAB, each(times(TO_CONES, light), Math.cbrt));
}

function distance(one: Rgb, other: Rgb): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [one, other]
    .map((hex) => linear(hex))
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    .sort((a, b) => a - b);
  return high / low;
}

const sets = Object.entries({ OUTCOME_COLORS, STATE_COLORS, LATENCY_COLORS });
const themes = [
  ['light', 0, '#ffffff'],
  ['dark', 1, '#242424'],
] as const;

describe.each(sets)('%s', (_name, colors) => {
  describe.each(themes)('in %s', (_theme, at, page) => {
    const all = Object.entries(colors).map(([word, pair]) => [word, pair[at]] as const);

    it.each(Object.entries(VISIONS))('are apart for vision with %s', (_vision, matrix) => {
      const alike = all.flatMap(([word, color], index) =>
        all
          .slice(index + 1)
          .filter(([, other]) => distance(seen(color, matrix), seen(other, matrix)) < APART)
          .map(([other]) => `${word} and ${other}`),
      );
      expect(alike).toEqual([]);
    });

    it('stand out from the page', () => {
      expect(all.filter(([, color]) => contrast(color, page) < 3).map(([word]) => word)).toEqual([]);
    });
  });
});
