/** Whether a request may come from a page of ours, by what browsers say of themselves and no page can change. RFC 6454, Fetch Metadata. */
import type { IncomingHttpHeaders } from 'node:http';

/** `none`: somebody typed the address, no page asked. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** True where a header says that another site asks. Programs that are no browsers say nothing. `publicUrl`: its scheme is what browsers see, whatever a proxy makes of it. */
export function comesFromElsewhere(
  { origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders,
  publicUrl: string,
): boolean {
  if (site !== undefined && !OWN_SITES.has(site)) return true;
  return origin !== undefined && origin.toLowerCase() !== originOf(host ?? '', publicUrl);
}

/** The origin under which this request was made: its Host, which was found to be ours, without the port that the scheme stands for. */
function originOf(host: string, publicUrl: string): string | undefined {
  const url = `${new URL(publicUrl).protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
