/**
 * Secrets of runs: where each goes, and which names cannot be given to one, because programs take them for something
 * else. contract §2, §10.4 (Declared injections).
 */

/** One entry of a `secrets` list. */
export interface RunSecret {
  name: string;
  /** Where its value is added, outside of the sandbox: a name or an IPv4 address, with :port where it is not 443. */
  host?: string;
  /** The header that carries it, with a scheme behind a colon where one stands before the value. */
  header?: string;
  /** GET and HEAD unless said. */
  methods?: string[];
  /** Patterns; every path unless said. */
  paths?: string[];
  /** It is to be inside, as a variable. */
  expose?: 'env';
}

/** Variables that hold keys of models: what agents are known to take stays outside without a word. */
export const MODEL_KEY_VARIABLES: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CODEX_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'OPENAI_API_KEY',
  'OPENCODE_API_KEY',
  'OPENROUTER_API_KEY',
];

/** Headers that frame a message or a connection, or say where it goes. */
const OTHER_HEADERS: ReadonlySet<string> = new Set(
  'host content-length transfer-encoding connection upgrade te trailer expect keep-alive content-type'.split(' '),
);

/** What is wrong with where a secret goes, and which key says it; undefined: nothing. */
export function runSecretFault(secret: RunSecret): { key: keyof RunSecret; message: string } | undefined {
  const { name, host, header, methods, paths, expose } = secret;
  if (expose !== undefined && host !== undefined)
    return {
      key: 'expose',
      message: `${name} is either inside (expose: env) or added outside (host, header); keep one of them`,
    };
  if (host !== undefined && header === undefined)
    return {
      key: 'host',
      message: `${name} goes to ${host} in a header; name it, for example header: Authorization`,
    };
  const [orphan] = Object.entries({ header, methods, paths }).flatMap(([key, value]) => (value ? [key] : []));
  if (host === undefined && orphan !== undefined)
    return {
      key: orphan as keyof RunSecret,
      message: `${name} has ${orphan} but no host; name the host that it goes to`,
    };
  if (header !== undefined && OTHER_HEADERS.has(header.replace(/:.*$/s, '').trim().toLowerCase()))
    return { key: 'header', message: `${name} cannot be the value of ${header}, which is not a credential` };
  return undefined;
}

/** Whether a secret is inside only because nothing else is said of it. */
export function isExposedSilently({ name, host, expose }: RunSecret): boolean {
  return host === undefined && expose === undefined && !MODEL_KEY_VARIABLES.includes(name);
}

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
