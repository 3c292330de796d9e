/** The web page as it was built: its document, read once, around what is new with each answer; and its files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Inject, Injectable } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { basePathOf, StaticFiles } from '../http/static-files.ts';
import { CONFIG, PageFolder } from '../process/injection-tokens.ts';

/** What the build leaves open in its document: what is new with each answer, and where the page lives. */
const NONCE = '__NONCE__';
const BASE = '__BASE__';

const DOCUMENT = 'index.html';
const ASSETS = 'assets';

/** Where the build puts the page, as seen from the sources and from the built service. */
const FOLDERS = ['../../../dist/dashboard/', '../../../dashboard/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

@Injectable()
export class BuiltPage {
  /** What is below `assets/`. */
  readonly assets: StaticFiles;
  /** The document around its nonces; undefined: the page was not built. */
  private readonly document: readonly string[] | undefined;

  /** The path of the public address is what the page's addresses begin with. */
  constructor(@Inject(CONFIG) { publicUrl }: Config, pageFolder: PageFolder) {
    const folder = pageFolder.path ?? FOLDERS.find((candidate) => existsSync(join(candidate, DOCUMENT)));
    const built = folder !== undefined && existsSync(join(folder, DOCUMENT)) ? folder : undefined;
    this.document =
      built === undefined
        ? undefined
        : readFileSync(join(built, DOCUMENT), 'utf8')
            .replaceAll(BASE, () => basePathOf(publicUrl))
            .split(NONCE);
    this.assets = new StaticFiles(built === undefined ? undefined : join(built, ASSETS));
  }

  /** Text of the page's document with a nonce that nobody could know before; undefined: it was not built. */
  documentWith(nonce: string): string | undefined {
    return this.document?.join(nonce);
  }
}
