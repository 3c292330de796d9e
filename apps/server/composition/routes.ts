/** Which routes a process has, by its roles. What it has none for is not found there. contract 1 (roles), 3, 4. */
import type { Type } from '@nestjs/common';
import { AuditController } from '../audit/audit.controller.ts';
import { AutomationController } from '../automations/automations.controller.ts';
import type { ProcessRole } from '../config/config.ts';
import { DashboardController } from '../dashboard/dashboard.controller.ts';
import { DeliveryController } from '../deliveries/deliveries.controller.ts';
import { DocsController } from '../docs/docs.controller.ts';
import { ExplanationController } from '../explanations/explanations.controller.ts';
import { FactoryController } from '../factories/factories.controller.ts';
import { FactoryHistoryController } from '../factories/factory-history.controller.ts';
import { PushController } from '../push-notices/push-notices.controller.ts';
import { FactoryFileController } from '../factory-files/factory-files.controller.ts';
import { ErrorPageController } from '../docs/error-pages.controller.ts';
import { HealthController } from '../health/health.controller.ts';
import { KeyController } from '../keys/keys.controller.ts';
import { CatalogueController } from '../runs/catalogue.controller.ts';
import { RunController } from '../runs/runs.controller.ts';
import { PermissionController } from '../runs/permissions.controller.ts';
import { RunHistoryController } from '../runs/run-history.controller.ts';
import { FactorySecretController, TeamSecretController } from '../secrets/secrets.controller.ts';
import { SessionController } from '../sessions/sessions.controller.ts';
import { StatisticsController } from '../statistics/statistics.controller.ts';
import { SignatureSchemeController, WebhookController } from '../webhooks/webhooks.controller.ts';

const ALWAYS = [HealthController];

/** The ingress has no routes here: it stands before the framework. */
const ROUTES: Readonly<Partial<Record<ProcessRole, readonly Type[]>>> = {
  api: [
    ErrorPageController,
    DocsController,
    SessionController,
    RunController,
    RunHistoryController,
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
export function controllersOf(roles: ReadonlySet<ProcessRole>): Type[] {
  return [...new Set([...ALWAYS, ...[...roles].flatMap((role) => ROUTES[role] ?? [])])];
}
