/** The guide as it was built: pages and files by their address, read when first asked for, and its inline scripts. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { basePathOf, StaticFiles, type StaticFile } from '../http/static-files.ts';
import { CONFIG } from '../process/injection-tokens.ts';

/** What the build leaves open in its texts: where the service lives. */
const BASE = '/__BASE__/';

/** Where the build puts the guide, as seen from the sources and from the built service. */
const FOLDERS = ['../../../dist/guide/', '../../../guide/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

const FIRST_PAGE = 'index.html';
const TYPES = { html: 'text/html; charset=utf-8' };

/** Scripts of a page that are not files of their own. */
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** Folder of the built guide. */
export abstract class GuideFolder {
  /** Where the build puts it, if not said. */
  path?: string;
}

@Injectable()
export class BuiltGuide {
  private readonly folder: string | undefined;
  private readonly publicUrl: string;
  private read: StaticFiles | undefined;

  /** The path of the public address is what the guide's addresses begin with. Nothing is read yet. */
  constructor(@Inject(CONFIG) { publicUrl }: Pick<Config, 'publicUrl'>, @Optional() guideFolder?: GuideFolder) {
    const folder = guideFolder?.path ?? FOLDERS.find((candidate) => existsSync(join(candidate, FIRST_PAGE)));
    this.publicUrl = publicUrl;
    this.folder = folder !== undefined && existsSync(join(folder, FIRST_PAGE)) ? folder : undefined;
  }

  get isBuilt(): boolean {
    return this.folder !== undefined;
  }

  /** Everything that was built. */
  get files(): StaticFiles {
    const base = basePathOf(this.publicUrl);
    this.read ??= new StaticFiles(this.folder, { types: TYPES, fillIn: (text) => text.replaceAll(BASE, () => base) });
    return this.read;
  }

  /** The file at an address below the guide; a page's has neither `index` nor `.html`. */
  at(path: string): StaticFile | undefined {
    if (path === '' || path.endsWith('/')) return this.files.file(`${path}${FIRST_PAGE}`);
    return this.files.file(path) ?? this.files.file(`${path}.html`);
  }

  /** The page for addresses that there are not. */
  get missingPage(): StaticFile | undefined {
    return this.files.file('404.html');
  }
}

/** Sources for a content policy that let exactly the scripts run that a page holds itself. */
export function inlineScriptHashes(page: StaticFile): string[] {
  const text = Buffer.from(page.bytes).toString('utf8');
  return [...text.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}
