/** Which environment variables may carry a secret into a run. contract 2 (Managed secrets). */

/** Characters below which a value could not be redacted without mutilating ordinary output. contract 2. */
export const INJECTABLE_VALUE_LENGTH_MIN = 8;

const NAME = /^[A-Z][A-Z0-9_]{0,127}$/;

/** Families that steer the loader, git, this service, the C library or locale data. */
const REFUSED_PREFIXES = ['LD_', 'DYLD_', 'GIT_', 'MILLWRIGHT_', 'BASH_', 'MALLOC_', 'LC_', 'XDG_', 'SSH_'];

/** Single variables that decide which program runs, what it loads first, where it looks or whom it talks through. */
const REFUSED_NAMES = new Set(
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

/** Whether a secret of this name may become a variable: upper case, and nothing of loader, shell, git or service. contract 2. */
export function isInjectableEnvName(name: string): boolean {
  return NAME.test(name) && !REFUSED_NAMES.has(name) && !REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Whether a value can be injected: long enough to be redacted, and expressible in an environment. contract 2. */
export function isInjectableValue(value: string): boolean {
  return value.length >= INJECTABLE_VALUE_LENGTH_MIN && !value.includes('\0');
}
