/** The web page as it was built: its document and its files, read once. A request's path is looked up among them and never on the disk. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, PageFolder } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';

/** One file of the page. */
export interface Asset {
  type: string;
  bytes: Uint8Array;
  tag: string;
}

/** What a file can be sent as, the smallest first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** What the build leaves open in its document: what is new with each answer, and where the page lives. */
const NONCE = '__NONCE__';
const BASE = '__BASE__';

const DOCUMENT = 'index.html';
const ASSETS = 'assets';

/** Where the build puts the page, as seen from the sources and from the built service. */
const FOLDERS = ['../../../dist/dashboard/', '../../../dashboard/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

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

@Injectable()
export class BuiltPage {
  /** The document around its nonces; undefined: the page was not built. */
  private readonly document: readonly string[] | undefined;
  private readonly assets: ReadonlyMap<string, Asset>;
  private readonly compressed = new Map<string, Promise<Uint8Array>>();

  /** The path of the public address is what the page's addresses begin with. */
  constructor(@Inject(CONFIG) { publicUrl }: Config, pageFolder: PageFolder) {
    const folder = pageFolder.path ?? FOLDERS.find((candidate) => existsSync(join(candidate, DOCUMENT)));
    const isBuilt = folder !== undefined && existsSync(join(folder, DOCUMENT));
    this.document = isBuilt
      ? readFileSync(join(folder, DOCUMENT), 'utf8')
          .replaceAll(BASE, () => baseOf(publicUrl))
          .split(NONCE)
      : undefined;
    this.assets = isBuilt ? readAssets(join(folder, ASSETS)) : new Map();
  }

  /** Text of the page's document with a nonce that nobody could know before; undefined: it was not built. */
  documentWith(nonce: string): string | undefined {
    return this.document?.join(nonce);
  }

  /** The file of a name below `assets/`. */
  asset(name: string): Asset | undefined {
    return this.assets.get(name);
  }

  /** The bytes of a file in an encoding, made when they are first asked for; undefined where it would gain nothing. */
  async encoded({ type, bytes, tag }: Asset, encoding: Encoding): Promise<Uint8Array | undefined> {
    if (bytes.length < COMPRESSED_FROM_BYTES || !COMPRESSIBLE.test(type)) return undefined;
    const key = `${encoding} ${tag}`;
    const made = this.compressed.get(key) ?? compress(bytes, encoding);
    this.compressed.set(key, made);
    return made;
  }
}

function compress(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  return encoding === 'br' ? promisify(brotliCompress)(bytes, BROTLI) : promisify(gzip)(bytes);
}

/** Path of a URL with a slash behind it, as the value of an HTML attribute. */
function baseOf(publicUrl: string): string {
  const path = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`;
  return path.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Files below a folder by their path in it; links are not followed. */
function readAssets(folder: string): Map<string, Asset> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name));
      const type = TYPES[name.split('.').at(-1) ?? ''] ?? UNKNOWN_TYPE;
      return [
        relative(folder, join(parentPath, name)).split(sep).join('/'),
        { type, bytes, tag: createHash('sha256').update(bytes).digest('base64url').slice(0, 27) },
      ];
    }),
  );
}
