/** The interface described, for everybody: no key, nothing from elsewhere, nothing that a page could be tricked into. contract 3. */
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import { isKnownToClient } from '../http/conditional-requests.ts';
import { Pages, type Page } from './docs-files.ts';

/** The page loads its own files and the document, and nothing else; nobody frames it. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A minute: an upgrade shows soon, and the tag makes asking cheap. */
const CACHE = 'public, max-age=60';

@Controller()
export class DocsController {
  constructor(private readonly pages: Pages) {}

  @Get('api/v1/openapi.json')
  @AllowEverybody()
  async document(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await answer(request, reply, this.pages.document);
  }

  @Get('docs')
  @AllowEverybody()
  async page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await answer(request, reply, this.pages.file('page.html'));
  }

  /** The page's addresses are relative to `/docs`: with a slash behind it they would lead below. */
  @Get('docs/*')
  @AllowEverybody()
  async file(@Param('*') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (name === '') await reply.status(308).header('Location', '../docs').send();
    else await answer(request, reply, this.pages.file(name));
  }
}

async function answer(request: FastifyRequest, reply: FastifyReply, page: Page | undefined): Promise<void> {
  if (page === undefined) throw notFound('the page');
  void reply.headers({
    ETag: page.tag,
    'Cache-Control': CACHE,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': CONTENT_POLICY,
    'Referrer-Policy': 'no-referrer',
  });
  if (isKnownToClient(request.headers['if-none-match'], page.tag)) await reply.status(304).send();
  else await reply.status(200).header('Content-Type', page.type).send(page.text);
}
