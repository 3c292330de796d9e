/** The agent's own tools, in the order in which the model reads about them. */
import { bash } from './bash.ts';
import { edit } from './edit.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { plan } from './plan.ts';
import { read } from './read.ts';
import { reportArtifact } from './report-artifact.ts';
import type { AgentTool } from './types.ts';
import { write } from './write.ts';

/** Every built-in tool; names are unique. */
export const BUILT_IN_TOOLS: readonly AgentTool[] = [bash, read, write, edit, glob, grep, plan, reportArtifact];
