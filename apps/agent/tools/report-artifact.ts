/** The tool `report_artifact`: what a run leaves behind for people, a file or a pull request. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { onFiles } from './file-errors.ts';
import { failed, type Outcome, tool, type ToolContext } from './types.ts';

/**
 * What was reported. A file or plan has `path` (absolute, links resolved) and `size_bytes`, a pull request has `url`
 * and, where it was told, `branch`.
 */
export interface Artifact {
  type: 'FILE' | 'PLAN' | 'PULL_REQUEST';
  title: string;
  path?: string;
  size_bytes?: number;
  url?: string;
  branch?: string;
}

const input = z.object({
  type: z.enum(['FILE', 'PLAN', 'PULL_REQUEST']),
  path: z.string().min(1).optional().describe('The file, for FILE and PLAN'),
  url: z.string().max(2_000).optional().describe('Where the pull request is, for PULL_REQUEST'),
  branch: z
    .string()
    .regex(/^[^\s\p{Cc}]{1,200}$/u)
    .optional()
    .describe('Its branch, for PULL_REQUEST'),
  title: z.string().min(1).max(200).optional().describe('What people call it; otherwise the name of the file'),
});

/** Reports one artifact; the same file may be reported again after it has changed. */
export const reportArtifact = tool({
  name: 'report_artifact',
  description:
    'Reports a result of the work: a file (FILE), a plan in a file (PLAN) or a pull request (PULL_REQUEST). ' +
    'Only what is reported is kept for people when the run has ended.',
  input,
  kind: 'other',
  asks: false,
  describe: ({ path, url, type }, allowedPaths) => ({
    title: `Report ${path === undefined ? (url ?? type) : allowedPaths.shown(path)}`,
    ...(path === undefined ? {} : { locations: [{ path: allowedPaths.absolute(path) }] }),
  }),
  run: ({ type, path, url, branch, title }, context) =>
    type === 'PULL_REQUEST' ? pullRequest(url, branch, title) : file(type, path, title, context),
});

async function file(
  type: 'FILE' | 'PLAN',
  path: string | undefined,
  title: string | undefined,
  { allowedPaths }: ToolContext,
): Promise<Outcome> {
  if (path === undefined) return failed(`an artifact of type ${type} needs a path`);
  return onFiles(path, async () => {
    const real = await allowedPaths.readable(path);
    const status = await stat(real);
    if (!status.isFile()) return failed(`${JSON.stringify(path)} is not a regular file`);
    return reported({ type, title: title ?? basename(real), path: real, size_bytes: status.size });
  });
}

async function pullRequest(
  url: string | undefined,
  branch: string | undefined,
  title: string | undefined,
): Promise<Outcome> {
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['https:', 'http:'].includes(parsed.protocol))
    return failed('an artifact of type PULL_REQUEST needs a url that begins with https://');
  if (parsed.username !== '' || parsed.password !== '') return failed('the url must not hold credentials');
  return reported({
    type: 'PULL_REQUEST',
    title: title ?? parsed.pathname,
    url: parsed.href,
    ...(branch === undefined ? {} : { branch }),
  });
}

function reported(artifact: Artifact): Outcome {
  return { text: `reported ${artifact.title}`, artifact };
}
