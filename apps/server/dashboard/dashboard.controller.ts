/** The web page: one document for all of its addresses, and its files. Needs no key and holds no data: it asks the API like everybody else. */
import { randomBytes } from 'node:crypto';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import { BuiltPage } from './built-page.ts';
import { assetHeaders, documentHeaders } from './dashboard-headers.ts';

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
  'audit',
  'charts',
];

/** 128 bits, so that no injected text guesses what the rules of this answer are marked with. */
const NONCE_BYTES = 16;

const HOW_TO_BUILD = 'the web page is not built; `npm start` builds it, and so does `npx vite build` in apps/dashboard';

@Controller()
export class DashboardController {
  constructor(private readonly page: BuiltPage) {}

  /** Where there is no page, the interface is what there is to see; relative, so that it works below any path of the public address. */
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
