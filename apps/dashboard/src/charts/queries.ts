/** API queries of the charts. Charts of the same runs share one response. */
import { useQuery } from '@tanstack/react-query';
import { api, ask, type Api } from '../api/client.ts';
import { spanQuery } from './spans.ts';

export type DeliveryStatistics = Api<'DeliveryStatistics'>;
export type RunStatistics = Api<'RunStatistics'>;

export interface DeliveryScope {
  factoryUid?: string;
  webhookUid?: string;
  /** How far back, up to 744. */
  hours?: number;
}

export interface RunScope extends DeliveryScope {
  automationId?: string;
}

const REFRESH_MS = 15_000;

export function useDeliveryStatistics({ factoryUid, webhookUid, hours = 24 }: DeliveryScope) {
  return useQuery({
    queryKey: ['statistics', 'deliveries', { factoryUid, webhookUid, hours }],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/statistics/deliveries', {
          params: { query: { factory_uid: factoryUid, webhook_uid: webhookUid, ...spanQuery(hours, Date.now()) } },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
}

export function useRunStatistics({ factoryUid, webhookUid, automationId, hours = 24 }: RunScope) {
  return useQuery({
    queryKey: ['statistics', 'runs', { factoryUid, webhookUid, automationId, hours }],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/statistics/runs', {
          params: {
            query: {
              factory_uid: factoryUid,
              webhook_uid: webhookUid,
              automation_id: automationId,
              ...spanQuery(hours, Date.now()),
            },
          },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
}
