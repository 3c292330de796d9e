/** The documents and their routes: the API, its reference, and the page of each problem. contract §3.10 (Errors). */
import { openApiDocument } from '#contracts';
import { Controller, Get, Inject, Injectable, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { AllowEverybody } from '../http/access-guard.ts';
import { entityTagOf, isKnownToClient } from '../http/conditional-requests.ts';
import { ERROR_CODES, kebabCode, notFound, type ErrorCode } from '../http/error-codes.ts';
import { acceptedType } from '../http/negotiation.ts';
import { unknownResource } from '../http/problem-filter.ts';
import { CONFIG } from '../process/injection-tokens.ts';

interface Page {
  type: string;
  /** The same memory in every answer: who does not read its own holds no copy of it. */
  bytes: Buffer;
  tag: string;
}

const FILES = ['page.html', 'page.css', 'page.js', 'elements.js', 'examples.js', 'schema-view.js'] as const;

const FILE_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** Every page by its name, and the API document of this service; read once, when the service is built. */
@Injectable()
export class Pages {
  readonly document: Page;
  private readonly files: ReadonlyMap<string, Page>;
  constructor(@Inject(CONFIG) { publicUrl }: Config) {
    this.document = toPage('application/json; charset=utf-8', JSON.stringify(openApiDocument(publicUrl)));
    this.files = new Map(
      FILES.map((name) => [
        name,
        toPage(FILE_TYPES[name.split('.')[1] ?? ''] ?? '', readFileSync(new URL(name, import.meta.url), 'utf8')),
      ]),
    );
  }

  file(name: string): Page | undefined {
    return this.files.get(name);
  }
}

function toPage(type: string, text: string): Page {
  return { type, bytes: Buffer.from(text), tag: entityTagOf(text) };
}

/** The page loads its own files and the document, and nothing else; nobody frames it. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action " +
  "'none'; frame-ancestors 'none'";

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
  else await reply.status(200).header('Content-Type', page.type).send(page.bytes);
}

/** Plain text is what a terminal asks for by asking for anything. */
const TYPES = ['text/plain', 'text/html'] as const;

const CODES: ReadonlyMap<string, ErrorCode> = new Map(
  (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => [kebabCode(code), code]),
);

@Controller('errors')
export class ErrorPageController {
  @Get(':code')
  @AllowEverybody()
  page(@Param('code') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const code = CODES.get(name);
    if (code === undefined) throw unknownResource();
    const type = acceptedType(request.headers.accept, TYPES) ?? TYPES[0];
    void reply
      .header('Content-Type', `${type}; charset=utf-8`)
      .header('Vary', 'Accept')
      .header(
        'Content-Security-Policy',
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      .send(type === 'text/html' ? htmlPage(code) : textPage(code));
  }
}

function textPage(code: ErrorCode): string {
  const { title, status, retryable, meaning } = ERROR_CODES[code];
  return `${title}\n${code}, status ${status}\n\n${meaning}\n\n${retryWords(retryable)}\n`;
}

/** Constant words only: nothing of a request is in them. */
function htmlPage(code: ErrorCode): string {
  const { title, status, retryable, meaning } = ERROR_CODES[code];
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>`,
    `<body><h1>${title}</h1><p><code>${code}</code>, status ${status}</p><p>${meaning}` +
      `</p><p>${retryWords(retryable)}</p></body></html>`,
    '',
  ].join('\n');
}

function retryWords(retryable: boolean): string {
  return retryable
    ? 'The same request can succeed later, unless the answer says retryable: false.'
    : 'The same request will not succeed later, unless the answer says retryable: true.';
}
