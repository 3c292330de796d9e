/** The web page: one document for all of its addresses, and its files. Needs no key and holds no data: it asks the API like everybody else. */
import { randomBytes } from 'node:crypto';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import { isKnownToClient } from '../http/conditional-requests.ts';
import { acceptedEncodings } from '../http/negotiation.ts';
import { BuiltPage, ENCODINGS, type Asset, type Encoding } from './built-page.ts';
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
    const asset = this.page.asset(name);
    if (asset === undefined) throw notFound('the file');
    const { encoding, bytes } = await this.smallest(asset, request);
    // Of each encoding its own: they are different bytes.
    const tag = `"${asset.tag}${encoding === undefined ? '' : `-${encoding}`}"`;
    void reply.headers({
      ...assetHeaders(asset.type),
      ETag: tag,
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    });
    if (isKnownToClient(request.headers['if-none-match'], tag)) await reply.status(304).send();
    else await reply.status(200).send(Buffer.from(bytes));
  }

  /** Answers the document; false: there is none. */
  private async answer(reply: FastifyReply): Promise<boolean> {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    const text = this.page.documentWith(nonce);
    if (text === undefined) return false;
    await reply.status(200).headers(documentHeaders(nonce)).send(text);
    return true;
  }

  private async smallest(
    asset: Asset,
    { headers }: FastifyRequest,
  ): Promise<{ encoding?: Encoding; bytes: Uint8Array }> {
    const [encoding] = acceptedEncodings(headers['accept-encoding'], ENCODINGS);
    const encoded = encoding && (await this.page.encoded(asset, encoding));
    return encoded === undefined ? { bytes: asset.bytes } : { encoding, bytes: encoded };
  }
}
