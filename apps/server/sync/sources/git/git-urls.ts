/** Which repository addresses are accepted, and how an address is shown without what is secret in it. contract §9.7. */

/** An accepted address. `url` is what git is given. */
export interface GitAddress {
  protocol: 'https' | 'ssh' | 'file';
  url: string;
  /** Host with port, lower-case: what credentials are granted to and back-off is counted by. Empty for local paths. */
  host: string;
}

export type AddressVerdict = { ok: true; address: GitAddress } | { ok: false; reason: string };

const SCP_FORM = /^(?:([A-Za-z0-9._][A-Za-z0-9._-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*):(?!\/\/|[:-])(.+)$/;
const USER_NAME = /^[A-Za-z0-9._][A-Za-z0-9._+-]*$/;

/**
 * Whether git may be pointed at this: https and ssh, local paths only where allowed, no password, nothing that reads as
 * an option.
 */
export function checkGitUrl(text: string, allowLocal: boolean): AddressVerdict {
  if (text === '') return refuse('the repository address is empty');
  if (/[\u0000-\u001f\u007f]/.test(text)) return refuse('the repository address holds a control character');
  if (text.startsWith('-')) return refuse('the repository address must not start with "-"');
  if (text.startsWith('/')) return checkLocal(text, allowLocal);
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text)) return checkSchemed(text, allowLocal);
  return checkScpForm(text);
}

/** Text with the user part of every address in it masked. */
export function maskUserinfo(text: string): string {
  return text.replaceAll(/([A-Za-z][A-Za-z0-9+.-]*:\/\/)[^\s/'"]*@/g, '$1***@');
}

function refuse(message: string): AddressVerdict {
  return { ok: false, reason: message };
}

function checkLocal(url: string, allowLocal: boolean): AddressVerdict {
  if (!allowLocal) return refuse('local repositories are not allowed here (MILLWRIGHT_ALLOW_LOCAL_SOURCES)');
  return { ok: true, address: { protocol: 'file', url, host: '' } };
}

function checkSchemed(text: string, allowLocal: boolean): AddressVerdict {
  if (/\s/.test(text)) return refuse('the repository address holds a space');
  const parsed = parse(text);
  if (parsed === undefined) return refuse('the repository address is not a valid URL');
  if (parsed.password !== '')
    return refuse('the repository address must not hold a password; name a credential secret instead');
  if (parsed.search !== '' || parsed.hash !== '') return refuse('the repository address must not hold "?" or "#"');
  switch (parsed.protocol) {
    case 'https:':
      return checkHttps(parsed);
    case 'ssh:':
      return checkSsh(text, parsed);
    case 'file:':
      return parsed.host === '' ? checkLocal(text, allowLocal) : refuse('a file: address must not name a host');
    default:
      return refuse('only https:// and ssh:// repositories are supported');
  }
}

function checkHttps(parsed: URL): AddressVerdict {
  // Forges take a token for a user name: it would be stored and shown.
  if (parsed.username !== '')
    return refuse(
      'an https address must not hold a user name, which can be a token; name a credential secret ' +
        '(credential_secret) instead',
    );
  const url = `https://${parsed.host}${parsed.pathname}`;
  return { ok: true, address: { protocol: 'https', url, host: parsed.host.toLowerCase() } };
}

function checkSsh(text: string, parsed: URL): AddressVerdict {
  if (parsed.hostname === '' || parsed.hostname.startsWith('-'))
    return refuse('the repository address names no valid host');
  if (parsed.username !== '' && !USER_NAME.test(parsed.username))
    return refuse('the user name in the repository address is malformed');
  return { ok: true, address: { protocol: 'ssh', url: text, host: parsed.host.toLowerCase() } };
}

function checkScpForm(text: string): AddressVerdict {
  const match = SCP_FORM.exec(text);
  if (match === null || /\s/.test(text) || text.slice(0, text.indexOf(':')).includes('/')) {
    return refuse('the repository address is neither https://…, ssh://…, user@host:path nor an absolute path');
  }
  return { ok: true, address: { protocol: 'ssh', url: text, host: (match[2] ?? '').toLowerCase() } };
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * A folder inside a repository in its one spelling (no slash at either end), or undefined when it is not a plain
 * relative path.
 */
export function normalizeSubfolder(path: string): string | undefined {
  const trimmed = path.replaceAll(/^(?:\.\/)+|\/+$/g, '');
  if (trimmed === '' || trimmed === '.') return '';
  if (/[\u0000-\u001f\u007f]/.test(trimmed) || trimmed.startsWith('/')) return undefined;
  return trimmed.split('/').every((part) => part !== '' && part !== '.' && part !== '..') ? trimmed : undefined;
}
