/**
 * What is served to people and programs that want to know the interface: the API document and the files of the page
 * that shows it. contract §3.
 */
import { readFileSync } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import { openApiDocument } from '#contracts';
import { entityTagOf } from '../http/conditional-requests.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';

export interface Page {
  type: string;
  text: string;
  tag: string;
}

const FILES = ['page.html', 'page.css', 'page.js', 'elements.js', 'examples.js', 'schema-view.js'] as const;

const TYPES: Readonly<Record<string, string>> = {
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
        toPage(TYPES[name.split('.')[1] ?? ''] ?? '', readFileSync(new URL(name, import.meta.url), 'utf8')),
      ]),
    );
  }

  file(name: string): Page | undefined {
    return this.files.get(name);
  }
}

function toPage(type: string, text: string): Page {
  return { type, text, tag: entityTagOf(text) };
}
