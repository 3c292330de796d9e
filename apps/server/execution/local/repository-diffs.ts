/**
 * What a run has changed in the repositories of its environment, as diffs among its artifacts; made inside its sandbox,
 * never by the service. contract §3.1 (artifacts), §10.
 */
import { ARTIFACTS_FOLDER, DIFF_NOTE, type CommandEnd } from '#runs';
import type { Log } from '../../process/log.ts';
import type { CommandSpec } from '../command/command.ts';
import { checkedOut, sandboxedGit, type CheckedOut } from './environment-setup.ts';
import type { Workspace } from '../workspace/workspaces.ts';

/** Milliseconds for all repositories of a run. */
const COMPARE_MS_MAX = 60_000;

const MIB = 1_024 ** 2;
/** Larger ones are no diffs that somebody reads. */
const DIFF_BYTES_MAX = 10 * MIB;
/** Of these, what stands above the diff. */
const HEAD_BYTES_MAX = 1_024;

export interface RepositoryDiffsDeps {
  /** How the work of the execution ended. */
  end: CommandEnd;
  /** Aborted when the execution is to end. */
  signal: AbortSignal;
  workspace: Workspace;
  runId: string;
  /** Runs one command, with what every command of the run has. */
  run(spec: Pick<CommandSpec, 'command' | 'prompt' | 'deadlineMs'> & Partial<CommandSpec>): Promise<CommandEnd>;
  /** A line for people in the run's log. */
  say(text: string): void;
  log: Log;
}

/**
 * Leaves a diff in the artifacts folder for each repository that differs from what the set-up checked out, its new
 * files included, ignored ones not. Names of that kind are the service's: what the run itself put there is replaced.
 * Changes nothing about the end of the run; never rejects.
 */
export async function leaveDiffs({ end, signal, workspace, runId, run, say, log }: RepositoryDiffsDeps): Promise<void> {
  if (signal.aborted || (end.kind !== 'exited' && end.kind !== 'signalled' && end.kind !== 'deadline')) return;
  try {
    const repositories = await checkedOut(workspace);
    if (repositories.length === 0) return;
    let output = '';
    const command = [
      '/bin/sh',
      '-c',
      COMPARE,
      'compare',
      workspace.workspace,
      String(DIFF_BYTES_MAX - HEAD_BYTES_MAX),
      DIFF_NOTE,
      ...repositories.flatMap(({ folder, commit }) => [folder, commit]),
    ];
    const compared = await run({
      ...(await sandboxedGit(workspace)),
      command,
      operatorWords: [],
      prompt: '',
      deadlineMs: COMPARE_MS_MAX,
      network: 'none',
      env: {},
      onEvent: ({ kind, text }) => (output += kind === 'stdout' ? text : ''),
    });
    if (!signal.aborted && compared.kind !== 'cancelled')
      for (const text of linesOf(repositories, output, compared)) say(text);
  } catch (error) {
    log.fault('repository comparison failed', error, { run_id: runId });
    say('the changes in its repositories are not kept: the service could not compare them');
  }
}

/** The output is believed of repositories that are the run's, and decides nothing but what is said. */
function linesOf(repositories: readonly CheckedOut[], output: string, compared: CommandEnd): string[] {
  const lines = new Set(output.split('\n'));
  return repositories.flatMap(({ folder }) => {
    if (lines.has(`same ${folder}`)) return [];
    if (lines.has(`made ${folder}`)) return [`the changes in ${folder} are in ${ARTIFACTS_FOLDER}/${folder}.diff`];
    if (lines.has(`large ${folder}`))
      return [`the changes in ${folder} are not kept as a diff: it is larger than ${DIFF_BYTES_MAX / MIB} MiB`];
    const why =
      compared.kind === 'deadline'
        ? `comparing took longer than ${COMPARE_MS_MAX / 1_000} s`
        : 'git could not compare it with what was checked out';
    return [`the changes in ${folder} are not kept as a diff: ${why}`];
  });
}

/**
 * The run's own index stays as it is: new files are noted in a copy. The head says whose word it is. What is set here
 * is what settings of the clone could change of the form of a diff; whatever else they make git do happens behind the
 * run's own walls. Diffs are put in place whole.
 */
const COMPARE = String.raw`
cd "$1" || exit 1
max=$2 note=$3
shift 3
export HOME=/nonexistent GIT_OPTIONAL_LOCKS=0
mkdir -p ${ARTIFACTS_FOLDER}
compare() {
  made="$PWD/${ARTIFACTS_FOLDER}/$1.diff"
  GIT_WORK_TREE="$PWD/$1" GIT_DIR="$PWD/$1/.git"
  part="$GIT_DIR/millwright.part" index="$GIT_DIR/millwright.index"
  export GIT_WORK_TREE GIT_DIR
  rm -rf -- "$made" "$part" "$part.code" "$part.whole" "$index" "$index.lock"
  cd "$GIT_WORK_TREE" && cp -- "$GIT_DIR/index" "$index" || return 1
  export GIT_INDEX_FILE="$index"
  git -c core.fsmonitor=false add --intent-to-add -- . || return 1
  { git -c core.fsmonitor=false -c core.quotePath=true diff \
      --binary --no-ext-diff --no-textconv --no-color --no-relative --no-renames \
      --src-prefix=a/ --dst-prefix=b/ --unified=3 --inter-hunk-context=0 \
      --submodule=short --ignore-submodules=dirty "$2" --
    echo "$?" > "$part.code"
  } | head -c "$((max + 1))" > "$part"
  size=$(wc -c < "$part") && code=$(cat "$part.code") || return 1
  if [ "$size" -gt "$max" ]; then result=large
  elif [ "$code" != 0 ]; then return 1
  elif [ "$size" -eq 0 ]; then result=same
  else
    # Text before the first "diff --git" is no part of a diff, and git applies it all the same.
    { printf '%s\n(%s, against commit %s)\n\n' "$note" "$1" "$2" && cat -- "$part"; } > "$part.whole" &&
      mv -- "$part.whole" "$made" && result=made
  fi
}
while [ "$#" -gt 1 ]; do
  (
    result=failed
    compare "$1" "$2" >/dev/null 2>&1
    rm -rf -- "$part" "$part.code" "$part.whole" "$index" "$index.lock"
    echo "$result $1"
  )
  shift 2
done
`;
