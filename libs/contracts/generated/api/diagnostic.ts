/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A problem in a definition file, with the place to look at.
 */
export interface Diagnostic {
  /**
   * File, relative to the factory's root.
   */
  path: string;
  /**
   * Line, counted from 1.
   */
  line: number;
  /**
   * Column, counted from 1 in UTF-16 units.
   */
  column: number;
  /**
   * Line where the place ends.
   */
  end_line?: number;
  /**
   * Column behind its last character.
   */
  end_column?: number;
  /**
   * An error keeps its file from applying; a warning does not.
   */
  severity: 'error' | 'warning';
  /**
   * kebab-case identifier of the rule.
   */
  rule: string;
  /**
   * Published code of the rule: `FF_…`.
   */
  code: string;
  /**
   * What was found, what was expected, and the way out.
   */
  message: string;
  /**
   * The lines around the place; long ones are cut, `•••` stands for what could be a secret, and what cannot be printed is written as `\u{…}`. Absent where the text was not at hand, and beyond the first hundred problems.
   */
  excerpt?: {
    /**
     * Number of the first of these lines.
     */
    first_line: number;
    /**
     * At most five.
     */
    lines: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
