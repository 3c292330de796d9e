/** Pages for people: the guide, the reference of the interface, and what a problem means. */
import { Module } from '@nestjs/common';
import { BuiltGuide } from './built-guide.ts';
import { DocsController, ErrorPageController, Pages } from './docs.controller.ts';
import { GuideController } from './guide.controller.ts';

@Module({ controllers: [GuideController, DocsController], providers: [BuiltGuide, Pages] })
export class DocsModule {}

@Module({ controllers: [ErrorPageController] })
export class ErrorPagesModule {}
