/** The HTTP application: which controllers there are and what they are given. Everything is built in `compose.ts`; modules hold only arrays. */
import { Module, type DynamicModule, type InjectionToken } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AuditController } from './audit/controller.ts';
import { AutomationController } from './automations/controller.ts';
import { DashboardController } from './dashboard/controller.ts';
import { DocsController } from './docs/controller.ts';
import { DeliveryController } from './deliveries/controller.ts';
import { ExplanationController } from './explanations/controller.ts';
import { FactoryController } from './factories/controller.ts';
import { FactoryHistoryController } from './factories/history-controller.ts';
import { PushController } from './factories/push-controller.ts';
import { FactoryFileController } from './factory-files/controller.ts';
import { ErrorPageController } from './http/error-pages.ts';
import { HealthController } from './http/health.ts';
import { KeyController } from './keys/controller.ts';
import { CatalogueController } from './runs/catalogue-controller.ts';
import { RunController } from './runs/controller.ts';
import { PermissionController } from './runs/permissions-controller.ts';
import { ToldController } from './runs/told-controller.ts';
import { FactorySecretController, TeamSecretController } from './secrets/controller.ts';
import { SessionController } from './sessions/controller.ts';
import { StatisticsController } from './statistics/controller.ts';
import { SignatureSchemeController, WebhookController } from './webhooks/controller.ts';

@Module({})
export class AppModule {
  /** `instances`: what controllers are given, each under its own class. */
  static of(instances: readonly object[]): DynamicModule {
    return {
      module: AppModule,
      imports: [ScheduleModule.forRoot()],
      controllers: [
        HealthController, ErrorPageController, DocsController, DashboardController, SessionController, RunController, ToldController, PermissionController, CatalogueController, FactoryController, FactoryHistoryController, PushController, WebhookController,
        SignatureSchemeController, AutomationController, DeliveryController, ExplanationController, FactoryFileController, TeamSecretController, FactorySecretController, KeyController,
        AuditController, StatisticsController,
      ],
      providers: instances.map((instance) => ({ provide: instance.constructor as InjectionToken, useValue: instance })),
    };
  }
}
