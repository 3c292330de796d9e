/** `/statistics`: counts of deliveries and runs over time. */
import type { APIPromise } from '../answers.ts';
import type { DeliveryStatistics, RunStatistics } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import { Resource } from '../resource.ts';
import type { QueryOf } from './params.ts';

/** Which deliveries to count, over which time, in how many buckets. */
export type StatisticsDeliveriesParams = QueryOf<'getDeliveryStatistics'>;
/** Which runs to count, over which time, in how many buckets. */
export type StatisticsRunsParams = QueryOf<'getRunStatistics'>;

/** Counts over time. Buckets lie in UTC and are counted whole; an answer may be a few seconds old. */
export class Statistics extends Resource {
  /** Counts deliveries by their outcomes, over at most 31 days; the log keeps at least 7. Role: viewer. */
  deliveries(params: StatisticsDeliveriesParams = {}, options?: RequestOptions): APIPromise<DeliveryStatistics> {
    return this.client.call({
      method: 'GET',
      template: '/statistics/deliveries',
      query: params,
      answer: 'DeliveryStatistics',
      options,
    });
  }

  /** Counts runs by their states, over at most 31 days. Role: viewer. */
  runs(params: StatisticsRunsParams = {}, options?: RequestOptions): APIPromise<RunStatistics> {
    return this.client.call({
      method: 'GET',
      template: '/statistics/runs',
      query: params,
      answer: 'RunStatistics',
      options,
    });
  }
}
