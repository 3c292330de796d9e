/**
 * The web page: one document for all of its addresses, its files, and what browsers may do with them. Needs no key and
 * holds no data: it asks the API like everybody else.
 */
import { randomBytes } from 'node:crypto';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import { BuiltPage } from './built-page.ts';

/** Addresses that the page has views for. Any other is no page: a mistyped one is told so. */
const VIEWS = [
  'sign-in',
  'factories',
  'factories/*',
  'runs',
  'runs/*',
  'secrets',
  'secrets/*',
  'api-keys',
  'schedules',
  'agent-identities',
  'federated-credentials',
  'audit',
  'charts',
];

/** 128 bits, so that no injected text guesses what the rules of this answer are marked with. */
const NONCE_BYTES = 16;

const HOW_TO_BUILD = 'the web page is not built; `npm start` builds it, and so does `npx vite build` in apps/dashboard';

@Controller()
export class DashboardController {
  constructor(private readonly page: BuiltPage) {}

  /**
   * Where there is no page, the interface is what there is to see; relative, so that it works below any path of the
   * public address.
   */
  @Get()
  @AllowEverybody()
  async root(@Res() reply: FastifyReply): Promise<void> {
    if (!(await this.answer(reply))) await reply.status(302).header('Location', 'docs').send();
  }

  @Get(VIEWS)
  @AllowEverybody()
  async view(@Res() reply: FastifyReply): Promise<void> {
    if (!(await this.answer(reply))) throw new RefusalError('resource_not_found', HOW_TO_BUILD);
  }

  @Get('assets/*')
  @AllowEverybody()
  async file(@Param('*') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const asset = this.page.assets.file(name);
    if (asset === undefined) throw notFound('the file');
    await this.page.assets.send(asset, { request, reply, headers: assetHeaders(asset.type) });
  }

  /** Answers the document; false: there is none. */
  private async answer(reply: FastifyReply): Promise<boolean> {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    const text = this.page.documentWith(nonce);
    if (text === undefined) return false;
    await reply.status(200).headers(documentHeaders(nonce)).send(text);
    return true;
  }
}

/**
 * Sources of each kind of thing that the page loads; everything else is refused. The page holds nothing but its own
 * files, whatever a payload or an agent wrote.
 */
const POLICY: readonly (readonly [directive: string, sources: string])[] = [
  ['default-src', "'none'"], // frames, workers, media, plug-ins of any kind: the page has none
  ['script-src', "'self'"], // its own files; no inline script, no eval, so that injected text stays text
  // its own files, and the rules that the components and the editor write while they run
  ['style-src', "'self' 'nonce-{nonce}'"],
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

/**
 * Headers of the document. It is asked for anew each time and has no tag: an answer "unchanged" would bring a new nonce
 * to an old document.
 */
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
