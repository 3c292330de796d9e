/** The pages that a problem's `type` names: each kind of problem in words, for people. contract 3 (Errors). */
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { ERROR_CODES, kebabCode, type ErrorCode } from '../http/error-codes.ts';
import { acceptedType } from '../http/negotiation.ts';
import { unknownResource } from '../http/problem-filter.ts';

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
    `<body><h1>${title}</h1><p><code>${code}</code>, status ${status}</p><p>${meaning}</p><p>${retryWords(retryable)}</p></body></html>`,
    '',
  ].join('\n');
}

function retryWords(retryable: boolean): string {
  return retryable
    ? 'The same request can succeed later, unless the answer says retryable: false.'
    : 'The same request will not succeed later, unless the answer says retryable: true.';
}
