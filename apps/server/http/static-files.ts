/** Files of a build, read once: a request's path is looked up among them and never on the disk. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isKnownToClient } from './conditional-requests.ts';
import { acceptedEncodings } from './negotiation.ts';

/** One file of a build. */
export interface StaticFile {
  type: string;
  bytes: Uint8Array;
  tag: string;
}

/** What a file can be sent as, the smallest first. */
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  map: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  webp: 'image/webp',
  woff2: 'font/woff2',
  woff: 'font/woff',
  txt: 'text/plain; charset=utf-8',
};
const UNKNOWN_TYPE = 'application/octet-stream';

/** Other types are compressed as they are. */
const COMPRESSIBLE = /^text\/|json|svg/;
/** Files below this many bytes fit into one packet anyway. */
const COMPRESSED_FROM_BYTES = 1_024;

/** Of eleven: a tenth larger than the best and fifty times as fast, so that nobody waits for the first answer. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

export interface StaticFileOptions {
  /** Types beside those that every build has. */
  types?: Readonly<Record<string, string>>;
  /** What becomes of the text of a file; as it was built, if not said. */
  fillIn?: (text: string) => string;
}

/** Who asks for a file, and what the answer says beside it. */
export interface StaticAnswer {
  request: FastifyRequest;
  reply: FastifyReply;
  headers: Record<string, string>;
  /** 200, if not said. */
  status?: number;
}

export class StaticFiles {
  private readonly files: ReadonlyMap<string, StaticFile>;
  private readonly compressed = new Map<string, Promise<Uint8Array>>();

  /** Files below a folder by their path in it; links are not followed. Without a folder there are none. */
  constructor(folder: string | undefined, options: StaticFileOptions = {}) {
    this.files = folder !== undefined && existsSync(folder) ? readFiles(folder, options) : new Map();
  }

  file(name: string): StaticFile | undefined {
    return this.files.get(name);
  }

  /** Answers a file in the smallest encoding that the client takes, or that it has the file already. */
  async send(file: StaticFile, { request, reply, headers, status = 200 }: StaticAnswer): Promise<void> {
    const { encoding, bytes } = await this.smallest(file, request);
    // Of each encoding its own: they are different bytes.
    const tag = `"${file.tag}${encoding === undefined ? '' : `-${encoding}`}"`;
    void reply.headers({
      ...headers,
      ETag: tag,
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    });
    if (isKnownToClient(request.headers['if-none-match'], tag)) await reply.status(304).send();
    // The same memory for all: who does not read its answer holds no copy of it.
    else await reply.status(status).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  }

  private async smallest(
    file: StaticFile,
    { headers }: FastifyRequest,
  ): Promise<{ encoding?: Encoding; bytes: Uint8Array }> {
    const [encoding] = acceptedEncodings(headers['accept-encoding'], ENCODINGS);
    const encoded = encoding && (await this.encoded(file, encoding));
    return encoded === undefined ? { bytes: file.bytes } : { encoding, bytes: encoded };
  }

  /** The bytes of a file in an encoding, made when they are first asked for; undefined where it would gain nothing. */
  private async encoded({ type, bytes, tag }: StaticFile, encoding: Encoding): Promise<Uint8Array | undefined> {
    if (bytes.length < COMPRESSED_FROM_BYTES || !COMPRESSIBLE.test(type)) return undefined;
    const key = `${encoding} ${tag}`;
    const made = this.compressed.get(key) ?? compress(bytes, encoding);
    this.compressed.set(key, made);
    return made;
  }
}

/** Path of a URL with a slash behind it, as the value of an HTML attribute. */
export function basePathOf(publicUrl: string): string {
  const path = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`;
  return path.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function compress(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  return encoding === 'br' ? promisify(brotliCompress)(bytes, BROTLI) : promisify(gzip)(bytes);
}

function readFiles(folder: string, { types = {}, fillIn }: StaticFileOptions): Map<string, StaticFile> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map(({ parentPath, name }) => {
      const extension = name.split('.').at(-1) ?? '';
      const type = types[extension] ?? TYPES[extension] ?? UNKNOWN_TYPE;
      const built = readFileSync(join(parentPath, name));
      const bytes = fillIn && COMPRESSIBLE.test(type) ? Buffer.from(fillIn(built.toString('utf8'))) : built;
      const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 27);
      return [relative(folder, join(parentPath, name)).split(sep).join('/'), { type, bytes, tag }];
    }),
  );
}
