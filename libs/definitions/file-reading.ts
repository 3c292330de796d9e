/** What reading one file yields, whatever its kind. */
import type { FilePositions, Problem, ReadFile } from './types.ts';
import type { DocumentFaults } from './yaml/faults.ts';
import type { SourceText } from './yaml/source-text.ts';

export interface FileReading<Definition> {
  /**
   * The definition as far as its shape is right; it does not apply when a problem of severity error stands beside it.
   */
  definition: Definition | undefined;
  /** What is left out of it, where anything is. */
  faults: DocumentFaults;
  problems: Problem[];
  positions: FilePositions;
}

/**
 * What a file is read into depends on its path, which decides its kind, and its text alone: a commit that changes one
 * file of two thousand costs the reading of one.
 */
export function readOnce<Definition>(
  tree: { earlier: ReadonlyMap<string, ReadFile>; readFiles: Map<string, ReadFile> },
  { path, text }: SourceText,
  read: () => FileReading<Definition>,
): FileReading<Definition> {
  const known = tree.earlier.get(path);
  const reading = known?.text === text ? (known.reading as FileReading<Definition>) : read();
  tree.readFiles.set(path, { text, reading });
  return reading;
}
