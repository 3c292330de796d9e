/**
 * Which modules a process has, by its roles. What it has no role for is absent: its routes are not found there.
 * contract §12.5 (roles), §3, §4.
 */
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AuditModule } from './audit/audit.module.ts';
import { AutomationsModule } from './automations/automations.module.ts';
import type { ProcessRole } from './config/config.ts';
import { DashboardModule } from './dashboard/dashboard.module.ts';
import { DeliveriesModule } from './deliveries/deliveries.module.ts';
import { DocsModule, ErrorPagesModule } from './docs/docs.module.ts';
import { DispatchModule, ExecutionModule } from './execution/execution.module.ts';
import { ExplanationsModule } from './explanations/explanations.module.ts';
import { FactoriesModule } from './factories/factories.module.ts';
import { FactoryFilesModule } from './factory-files/factory-files.module.ts';
import { AgentIdentitiesModule } from './agent-identities/agent-identities.module.ts';
import { FederationModule } from './federation/federation.module.ts';
import { FeedbackModule, PullRequestsModule } from './feedback/feedback.module.ts';
import { HealthModule } from './health/health.module.ts';
import { HttpModule } from './http/http.module.ts';
import { DisabledIngressModule, IngressModule } from './ingress/ingress.module.ts';
import { KeysModule, KeyUsesModule } from './keys/keys.module.ts';
import { ServiceComponents } from './lifecycle.ts';
import { MetricsModule } from './metrics/metrics.module.ts';
import { PushNoticesModule } from './push-notices/push-notices.module.ts';
import { RetentionModule } from './retention/retention.module.ts';
import { RunNoticesModule, RunsModule } from './runs/runs.module.ts';
import { ScheduledJobs } from './scheduled-jobs.ts';
import { ScheduledAgentsModule, SchedulesModule } from './schedules/schedules.module.ts';
import { SecretsModule, SecretValuesModule } from './secrets/secrets.module.ts';
import { SessionAuthenticationModule, SessionsModule } from './sessions/sessions.module.ts';
import { StatisticsModule } from './statistics/statistics.module.ts';
import { SyncLoopsModule, SyncModule } from './sync/sync.module.ts';
import { ServingModule, ServingPublisherModule, WebhooksModule } from './webhooks/webhooks.module.ts';

/** Of every process. All but the last two are global: what every process has, each feature may ask for. */
const BASE: readonly Type[] = [
  HttpModule,
  KeyUsesModule,
  SessionAuthenticationModule,
  SecretValuesModule,
  SyncLoopsModule,
  ServingPublisherModule,
  DispatchModule,
  RunNoticesModule,
  HealthModule,
  MetricsModule,
];

const MODULES: Readonly<Record<ProcessRole, readonly Type[]>> = {
  ingress: [ServingModule, IngressModule],
  api: [
    ServingModule,
    ErrorPagesModule,
    DocsModule,
    SessionsModule,
    RunsModule,
    ScheduledAgentsModule,
    FactoriesModule,
    PushNoticesModule,
    WebhooksModule,
    AutomationsModule,
    DeliveriesModule,
    ExplanationsModule,
    FactoryFilesModule,
    PullRequestsModule,
    SecretsModule,
    KeysModule,
    FederationModule,
    AgentIdentitiesModule,
    AuditModule,
    StatisticsModule,
  ],
  sync: [SyncModule, SchedulesModule, RetentionModule, FeedbackModule],
  worker: [ExecutionModule, RetentionModule],
  dashboard: [ErrorPagesModule, DashboardModule, SessionsModule],
};

@Module({})
export class AppModule {
  /** `given`: the modules of the process and of its store, which are made of what was opened before. */
  static forRoles(roles: ReadonlySet<ProcessRole>, given: readonly DynamicModule[]): DynamicModule {
    const chosen = new Set([
      ...BASE,
      ...[...roles].flatMap((role) => MODULES[role]),
      ...(roles.has('ingress') ? [] : [DisabledIngressModule]),
    ]);
    return {
      module: AppModule,
      imports: [ScheduleModule.forRoot(), ...given, ...chosen],
      providers: [ScheduledJobs, ServiceComponents],
    };
  }
}
