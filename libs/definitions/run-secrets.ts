/** Which names cannot be given to a secret of a run, because programs take them for something else. contract §2. */

/** Families that steer the loader, git, the shell, this service, the C library or locale data. */
const RESERVED_PREFIXES = ['LD_', 'DYLD_', 'GIT_', 'MILLWRIGHT_', 'BASH_', 'MALLOC_', 'LC_', 'XDG_', 'SSH_'];

/** Single variables that decide which program runs, what it loads first, where it looks or whom it talks through. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(
  [
    'PATH HOME SHELL USER LOGNAME PWD OLDPWD TMPDIR TMP TEMP TERM LANG LANGUAGE TZ TZDIR',
    'ENV BASHOPTS SHELLOPTS IFS CDPATH GLOBIGNORE FPATH ZDOTDIR PROMPT_COMMAND PS1 PS2 PS3 PS4',
    'EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE EXINIT VIMINIT',
    'NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED',
    'PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PERL5LIB PERL5OPT PERLLIB RUBYLIB RUBYOPT LUA_INIT',
    'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS CLASSPATH GCONV_PATH GLIBC_TUNABLES GETCONF_DIR LOCPATH NLSPATH',
    'HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_HOST_CONF SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF OPENSSL_ENGINES',
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY',
  ].flatMap((line) => line.split(' ')),
);

/**
 * Whether a run's secret of this name would change how programs, not the agent, behave: refused in files and at
 * injection alike.
 */
export function isReservedVariable(name: string): boolean {
  return RESERVED_NAMES.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
