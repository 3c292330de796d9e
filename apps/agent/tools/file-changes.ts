/** Writing a file and showing what changed. */
import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Characters of both sides of a change that are shown; a larger change is only counted: a cut text reads as a deletion.
 */
const SHOWN_LENGTH_MAX = 64_000;

/**
 * Replaces the file's content; makes the folders above it. The path has been resolved, so a link that appears there
 * since is refused.
 */
export async function writeText(realPath: string, text: string): Promise<void> {
  await mkdir(dirname(realPath), { recursive: true });
  const file = await open(
    realPath,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    0o666,
  );
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/** The change as protocol content; undefined when it is too large to be shown. */
export function shownChange(path: string, before: string | undefined, after: string): ToolCallContent[] | undefined {
  if ((before?.length ?? 0) + after.length > SHOWN_LENGTH_MAX) return undefined;
  return [{ type: 'diff', path, oldText: before ?? null, newText: after }];
}
