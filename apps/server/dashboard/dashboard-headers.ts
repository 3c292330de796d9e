/** What browsers are told about the web page: what it may load and do, and what nobody may do with it. */

/** Sources of each kind of thing that the page loads; everything else is refused. The page holds nothing but its own files, whatever a payload or an agent wrote. */
const POLICY: readonly (readonly [directive: string, sources: string])[] = [
  ['default-src', "'none'"], // frames, workers, media, plug-ins of any kind: the page has none
  ['script-src', "'self'"], // its own files; no inline script, no eval, so that injected text stays text
  ['style-src', "'self' 'nonce-{nonce}'"], // its own files, and the rules that the components and the editor write while they run
  ['img-src', "'self' data:"], // icons of the components are written into their rules
  ['font-src', "'self'"],
  ['connect-src', "'self'"], // the API of this service: nothing can be sent elsewhere
  ['base-uri', "'self'"], // the one base that the document names itself
  ['form-action', "'self'"], // no form carries a key away
  ['frame-ancestors', "'none'"], // nobody lays the page under a page of his own
  ['object-src', "'none'"], // for browsers that do not take it from default-src
];

const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'hid', 'display-capture']
  .map((name) => `${name}=()`)
  .join(', ');

/** Headers of the document. It is asked for anew each time and has no tag: an answer "unchanged" would bring a new nonce to an old document. */
export function documentHeaders(nonce: string): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': POLICY.map(
      ([directive, sources]) => `${directive} ${sources.replace('{nonce}', nonce)}`,
    ).join('; '),
    'X-Content-Type-Options': 'nosniff',
    // Addresses name factories and runs.
    'Referrer-Policy': 'no-referrer',
    // A window that opens this one, or that this one opens, has no hold on it.
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': PERMISSIONS,
  };
}

/** Headers of a file: its name changes with its content, so that it is never asked for twice. */
export function assetHeaders(type: string): Record<string, string> {
  return {
    'Content-Type': type,
    'Cache-Control': 'public, max-age=31536000, immutable',
    // The encoding of the answer depends on what the browser understands.
    Vary: 'Accept-Encoding',
    // Opened by itself, an image with scripts in it is an image.
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}
