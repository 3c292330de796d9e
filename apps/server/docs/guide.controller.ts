/** The guide, for everybody: no key, nothing from elsewhere, no script but those that were built. */
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import type { StaticFile } from '../http/static-files.ts';
import { BuiltGuide, inlineScriptHashes } from './built-guide.ts';

/** Its own files and nothing else; icons are written into its style sheets. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A minute: an upgrade shows soon, and the tag makes asking cheap. */
const CACHE = 'public, max-age=60';
/** Names of these change with their content. */
const NAMED_BY_CONTENT = /^assets\//;
const CACHE_FOR_EVER = 'public, max-age=31536000, immutable';

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The guide is not built</title></head>
<body><h1>The guide is not built</h1>
<p><code>npm run guide</code> builds it, in a clone; start the service again then.
Its pages can be read as they are in the folder <code>apps/guide</code>.
The API is described at <code>/docs</code>.</p></body></html>
`;

@Controller()
export class GuideController {
  constructor(private readonly guide: BuiltGuide) {}

  /** The guide's addresses are below it; relative, so that it works below any path of the public address. */
  @Get('docs/guide')
  @AllowEverybody()
  async root(@Res() reply: FastifyReply): Promise<void> {
    await reply.status(308).header('Location', 'guide/').send();
  }

  @Get('docs/guide/*')
  @AllowEverybody()
  async file(@Param('*') path: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (!this.guide.isBuilt) return this.answerNotBuilt(reply);
    const found = this.guide.at(path);
    const file = found ?? this.guide.missingPage;
    if (file === undefined) throw notFound('the page');
    await this.guide.files.send(file, {
      request,
      reply,
      headers: { ...headersOf(file), 'Cache-Control': NAMED_BY_CONTENT.test(path) ? CACHE_FOR_EVER : CACHE },
      status: found === undefined ? 404 : 200,
    });
  }

  private async answerNotBuilt(reply: FastifyReply): Promise<void> {
    await reply.status(404).headers(pageHeaders([])).header('Content-Type', 'text/html; charset=utf-8').send(NOT_BUILT);
  }
}

function headersOf(file: StaticFile): Record<string, string> {
  const scripts = file.type.startsWith('text/html') ? inlineScriptHashes(file) : [];
  // The encoding of the answer depends on what the browser understands.
  return { 'Content-Type': file.type, Vary: 'Accept-Encoding', ...pageHeaders(scripts) };
}

function pageHeaders(scripts: readonly string[]): Record<string, string> {
  return {
    'Content-Security-Policy': `${CONTENT_POLICY}; script-src ${["'self'", ...scripts].join(' ')}`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}
