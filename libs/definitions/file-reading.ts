/** What reading one file yields, whatever its kind. */
import type { FilePositions, Problem } from './types.ts';

export interface FileReading<Definition> {
  /**
   * The definition as far as its shape is right; it does not apply when a problem of severity error stands beside it.
   */
  definition: Definition | undefined;
  problems: Problem[];
  positions: FilePositions;
}
