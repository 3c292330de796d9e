/** Which routes a process has, by its roles. What it has none for is not found there. contract 1 (roles), 3, 4. */
import type { Type } from '@nestjs/common';
import { AuditController } from '../audit/controller.ts';
import { AutomationController } from '../automations/controller.ts';
import type { Role } from '../config.ts';
import { DashboardController } from '../dashboard/controller.ts';
import { DeliveryController } from '../deliveries/controller.ts';
import { DocsController } from '../docs/controller.ts';
import { ExplanationController } from '../explanations/controller.ts';
import { FactoryController } from '../factories/controller.ts';
import { FactoryHistoryController } from '../factories/history-controller.ts';
import { PushController } from '../factories/push-controller.ts';
import { FactoryFileController } from '../factory-files/controller.ts';
import { ErrorPageController } from '../http/error-pages.ts';
import { HealthController } from '../http/health.ts';
import { KeyController } from '../keys/controller.ts';
import { CatalogueController } from '../runs/catalogue-controller.ts';
import { RunController } from '../runs/controller.ts';
import { PermissionController } from '../runs/permissions-controller.ts';
import { ToldController } from '../runs/told-controller.ts';
import { FactorySecretController, TeamSecretController } from '../secrets/controller.ts';
import { SessionController } from '../sessions/controller.ts';
import { StatisticsController } from '../statistics/controller.ts';
import { SignatureSchemeController, WebhookController } from '../webhooks/controller.ts';

const ALWAYS = [HealthController];

/** The ingress has no routes here: it stands before the framework. */
const ROUTES: Readonly<Partial<Record<Role, readonly Type[]>>> = {
  api: [
    ErrorPageController,
    DocsController,
    SessionController,
    RunController,
    ToldController,
    PermissionController,
    CatalogueController,
    FactoryController,
    FactoryHistoryController,
    PushController,
    WebhookController,
    SignatureSchemeController,
    AutomationController,
    DeliveryController,
    ExplanationController,
    FactoryFileController,
    TeamSecretController,
    FactorySecretController,
    KeyController,
    AuditController,
    StatisticsController,
  ],
  // Who signs in does so at the page's own address, whoever answers the rest of the interface.
  dashboard: [ErrorPageController, DashboardController, SessionController],
};

/** Each once. */
export function controllersOf(roles: ReadonlySet<Role>): Type[] {
  return [...new Set([...ALWAYS, ...[...roles].flatMap((role) => ROUTES[role] ?? [])])];
}
