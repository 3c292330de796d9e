/** How long those that nobody knows are read, and who pauses them. Durations in milliseconds. */

export interface ReadRotationOptions<Item> {
  pause(item: Item): void;
  resume(item: Item): void;
  /** Whether its sender waits for an answer: all of its request was read. Nobody, if not said. */
  isAnswering?(item: Item): boolean;
  /** What one round may take until they are paced. */
  roundMsMax?: number;
  /** What the reads of a round may take then, while others are read, too. */
  pacedMsMax?: number;
  /** The same while nobody else is. */
  aloneMsMax?: number;
  /** What a read takes at least that is called costly. */
  costlyMsMin?: number;
  /** Time without a round that took too long, after which they are paced no more. */
  calmMs?: number;
}

/** Some 300 refused requests, or 30 pieces of bodies. */
const ROUND_MS_MAX = 8;
const PACED_MS_MAX = 1;
/** As long as all are read: what a round takes by itself, to call, to pause and to wake, is shared by more. */
const ALONE_MS_MAX = 8;
const COSTLY_MS_MIN = 1;
const CALM_MS = 30_000;

export function withDefaults<Item>(options: ReadRotationOptions<Item>): Required<ReadRotationOptions<Item>> {
  return {
    roundMsMax: ROUND_MS_MAX,
    pacedMsMax: PACED_MS_MAX,
    aloneMsMax: ALONE_MS_MAX,
    costlyMsMin: COSTLY_MS_MIN,
    calmMs: CALM_MS,
    isAnswering: () => false,
    ...options,
  };
}
