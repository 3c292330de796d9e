/** Pages for people who write programs: the reference of the interface, and what a problem means. */
import { Module } from '@nestjs/common';
import { DocsController, ErrorPageController } from './docs.controller.ts';
import { Pages } from './docs-files.ts';

@Module({ controllers: [DocsController], providers: [Pages] })
export class DocsModule {}

@Module({ controllers: [ErrorPageController] })
export class ErrorPagesModule {}
