/** Every address of the page. What is not needed to sign in is fetched when it is looked at. */
import type { ComponentType } from 'react';
import { createBrowserRouter, Navigate, type RouteObject } from 'react-router';
import { BrokenPage, NotFound } from './error-page.tsx';
import { Root } from './root.tsx';

/** A page, loaded by name out of its file. */
function page<Name extends string>(
  path: string,
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
  children?: RouteObject[],
): RouteObject {
  return {
    path,
    lazy: async () => ({ Component: (await load())[name] }),
    ...(children === undefined ? {} : { children }),
  };
}

const factory: RouteObject[] = [
  { index: true, element: <Navigate to="webhooks" replace /> },
  page('webhooks', () => import('../pages/webhooks/list.tsx'), 'WebhookListPage'),
  page('webhooks/new', () => import('../pages/webhooks/create/create.tsx'), 'CreateWebhookPage'),
  page('webhooks/:webhookUid', () => import('../pages/webhooks/detail.tsx'), 'WebhookPage'),
  page('webhooks/:webhookUid/deliveries/:entryId', () => import('../pages/deliveries/detail.tsx'), 'DeliveryPage'),
  page('automations', () => import('../pages/automations/list.tsx'), 'AutomationListPage'),
  page('automations/new', () => import('../pages/automations/form/editor.tsx'), 'NewAutomationPage'),
  page('automations/:automationId', () => import('../pages/automations/detail.tsx'), 'AutomationPage'),
  page('automations/:automationId/edit', () => import('../pages/automations/form/editor.tsx'), 'EditAutomationPage'),
  page('sync', () => import('../pages/sync/overview.tsx'), 'SyncPage'),
  page('sync/history', () => import('../pages/sync/passes/history.tsx'), 'SyncHistoryPage'),
  page('sync/passes/:syncId', () => import('../pages/sync/passes/pass.tsx'), 'SyncPassPage'),
  page('sync/revisions/*', () => import('../pages/sync/revision.tsx'), 'RevisionPage'),
  page('sync/plan', () => import('../pages/sync/plan/plan.tsx'), 'PlanPage'),
  page('runs', () => import('../pages/runs/list/list.tsx'), 'FactoryRunsPage'),
  page('secrets', () => import('../pages/secrets/factory.tsx'), 'FactorySecretsPage'),
  page('charts', () => import('../pages/charts/factory.tsx'), 'FactoryChartsPage'),
];

export const router = createBrowserRouter(
  [
    {
      element: <Root />,
      errorElement: <BrokenPage />,
      hydrateFallbackElement: <></>,
      children: [
        {
          errorElement: <BrokenPage />,
          children: [
            { index: true, element: <Navigate to="/factories" replace /> },
            { path: 'sign-in', element: <Navigate to="/factories" replace /> },
            page('factories', () => import('../pages/factories/list.tsx'), 'FactoryListPage'),
            page('factories/:factoryUid', () => import('../pages/factories/frame.tsx'), 'FactoryFrame', factory),
            page('runs', () => import('../pages/runs/list/list.tsx'), 'RunListPage'),
            page('runs/:runId', () => import('../pages/runs/detail.tsx'), 'RunPage'),
            page('schedules', () => import('../pages/schedules/list.tsx'), 'SchedulesPage'),
            page('agent-identities', () => import('../pages/identities/list.tsx'), 'AgentIdentitiesPage'),
            page('secrets', () => import('../pages/secrets/team.tsx'), 'TeamSecretsPage'),
            page('api-keys', () => import('../pages/keys/list.tsx'), 'ApiKeysPage'),
            page('federated-credentials', () => import('../pages/federation/list.tsx'), 'FederatedCredentialsPage'),
            page('audit', () => import('../pages/audit/list.tsx'), 'AuditPage'),
            page('charts', () => import('../pages/charts/all.tsx'), 'ChartsPage'),
            { path: '*', element: <NotFound /> },
          ],
        },
      ],
    },
  ],
  { basename: new URL(document.baseURI).pathname.replace(/\/$/, '') || '/' },
);
