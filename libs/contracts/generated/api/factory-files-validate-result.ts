/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What the command line's `validate` says of the same files.
 */
export interface FactoryFilesValidateResult {
  /**
   * Whether no diagnostic is an error.
   */
  valid: boolean;
  /**
   * Version of the hosted format that the files were read by, whatever they declare.
   */
  schema_version: string;
  /**
   * Errors in reading order: empty where it is valid. With the warnings at most 1,000 and one that says that there are more.
   */
  diagnostics: Diagnostic[];
  /**
   * Checks that need to know a factory; a plan runs them.
   */
  state_dependent_checks_not_run: ('secrets' | 'secret-values' | 'quota' | 'uids' | 'environments')[];
  /**
   * Problems that keep nothing from applying, in reading order.
   */
  warnings: Diagnostic[];
  /**
   * Names that only a factory can resolve, and that nobody has looked up here.
   */
  deferred_resolutions: {
    /**
     * File, relative to the factory's root.
     */
    path: string;
    /**
     * Key that holds the name, dotted from the root of the file, as the file has it.
     */
    field: string;
    /**
     * What it names.
     */
    kind: 'secret' | 'environment' | 'model' | 'harness' | 'webhook' | 'skill';
    [k: string]: unknown;
  }[];
  /**
   * What was checked.
   */
  validation_scope: {
    /**
     * Whether the files can be read.
     */
    parser: 'checked';
    /**
     * What follows from the files alone.
     */
    state_independent: 'checked';
    /**
     * What a factory has to be known for; a plan checks it.
     */
    state_dependent: 'not_checked';
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
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
