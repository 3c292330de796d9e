/** Checks of definition files before they are pushed. */
import { Module } from '@nestjs/common';
import { FactoryFileController } from './factory-files.controller.ts';
import { FactoryFileService } from './factory-files.service.ts';

@Module({ controllers: [FactoryFileController], providers: [FactoryFileService] })
export class FactoryFilesModule {}
