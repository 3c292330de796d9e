/** The cookie of a session: what it is called, how it is set, and how it is read. RFC 6265. */

/** Who asks over plain http gets no cookie with this prefix from a browser: it stands for Secure, for this host alone and for every path. */
const HOST_PREFIX = '__Host-';
const NAME = 'mw_session';

export class SessionCookie {
  readonly name: string;
  private readonly isSecure: boolean;
  constructor(publicUrl: string) {
    this.isSecure = publicUrl.startsWith('https:');
    this.name = this.isSecure ? `${HOST_PREFIX}${NAME}` : NAME;
  }

  /** `Set-Cookie` that hands a browser its token for so many seconds: no script reads it, no other site sends it. */
  given(token: string, seconds: number): string {
    return `${this.name}=${token}; ${this.attributes()}; Max-Age=${seconds}`;
  }

  /** `Set-Cookie` that takes it back. */
  takenBack(): string {
    return `${this.name}=; ${this.attributes()}; Max-Age=0`;
  }

  /** Every value that a `Cookie` header has for it, as they were sent. More than one: somebody else has set one beside ours. */
  valuesIn(header: string | undefined): string[] {
    if (header === undefined) return [];
    return header.split(';').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at >= 0 && withoutBlanksBefore(pair.slice(0, at)) === this.name ? [pair.slice(at + 1)] : [];
    });
  }

  private attributes(): string {
    return `Path=/; HttpOnly; SameSite=Strict${this.isSecure ? '; Secure' : ''}`;
  }
}

/** Space and tab only: `trim` would take characters away that browsers allow in names, and a name that only looks like ours would be ours. */
function withoutBlanksBefore(text: string): string {
  return text.replace(/^[ \t]+/, '');
}
