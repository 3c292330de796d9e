/** Which names cannot be given to a secret of a run, because programs take them for something else. contract 2. */

const TAKEN: ReadonlySet<string> = new Set([
  'PATH', 'HOME', 'SHELL', 'USER', 'LOGNAME', 'PWD', 'OLDPWD', 'IFS', 'ENV', 'BASH_ENV', 'CDPATH', 'PS4', 'PROMPT_COMMAND', 'SHELLOPTS', 'BASHOPTS', 'TMPDIR',
  'NODE_OPTIONS', 'NODE_PATH', 'PYTHONPATH', 'PYTHONSTARTUP', 'PYTHONHOME', 'PERL5LIB', 'PERL5OPT', 'RUBYLIB', 'RUBYOPT', 'JAVA_TOOL_OPTIONS',
  'SSH_ASKPASS', 'EDITOR', 'VISUAL', 'PAGER',
]);
const TAKEN_PREFIXES = ['MILLWRIGHT_', 'LD_', 'DYLD_', 'GIT_', 'BASH_FUNC_', 'LC_'];

/** Whether a run's secret of this name would change how programs, not the agent, behave. */
export function isTakenVariable(name: string): boolean {
  return TAKEN.has(name) || TAKEN_PREFIXES.some((prefix) => name.startsWith(prefix));
}
