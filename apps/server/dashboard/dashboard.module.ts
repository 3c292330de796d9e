/** The web page. */
import { Module } from '@nestjs/common';
import { BuiltPage } from './built-page.ts';
import { DashboardController } from './dashboard.controller.ts';

@Module({ controllers: [DashboardController], providers: [BuiltPage] })
export class DashboardModule {}
