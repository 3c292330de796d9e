/**
 * Every metric of the service: what it is called, what it says, and how many series it can have at most. What is not
 * in here cannot be measured; the guide's table is made of it. contract §1.7 (Metrics).
 */
import type { ConditionType } from '#reconcile';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/**
 * Values of a label: all of them, which begin at 0; or how many different ones there are at most, beyond which the
 * rest is `other`. Never a UID, a path or anything that a stranger wrote.
 */
export type LabelValues = readonly string[] | number;

export interface MetricRow {
  readonly type: MetricType;
  /** One sentence for an operator. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Combinations of labels at most, where that is less than all of them. */
  readonly seriesMax?: number;
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

/** From half a millisecond, which a warm ingress needs, to the time after which senders have given up. */
const ANSWER_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From a hundredth of a second to five minutes: a pass of an unchanged folder, a large repository from far away. */
const WORK_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];
/** A free slot is taken in a tenth of a second; a queue may be hours long. */
const WAIT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 14_400];
const RUN_SECONDS = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 14_400];
/** Deliveries of one transaction: 256 at most. */
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The names of the refusals of the ingress, and what else becomes of a request. */
export const INGRESS_OUTCOMES = [
  'accepted',
  'over_rate',
  'failures_over_budget',
  'unauthenticated',
  'not_found',
  'not_post',
  'too_large',
  'too_large_unauthenticated',
  'invalid_json',
  'body_too_slow',
  'unavailable',
  'sender_gone',
] as const;

/** What became of a delivery that passed authentication. */
export const DELIVERY_OUTCOMES = ['accepted', 'duplicate', 'refused', 'throttled', 'stale', 'gone'] as const;
/** How a pass ended. */
const PASS_ENDINGS = ['applied', 'blocked', 'failed'] as const;
const RUN_END_STATES = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'] as const;
const LIVE_RUN_STATES = ['QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED'] as const;
const CONDITIONS: readonly ConditionType[] = [
  'Ready',
  'Reconciling',
  'Stalled',
  'FetchFailed',
  'SourceVerificationFailed',
  'DefinitionsInvalid',
  'PruneHeld',
  'SecretsDegraded',
  'HistoryRewritten',
];
const STATUSES = ['True', 'False', 'Unknown'] as const;
export const TRANSACTIONS = ['write', 'read', 'long_read'] as const;

/** Factories whose conditions are shown one by one; those beyond are counted together. */
export const CONDITION_SERIES_MAX = 1_000;

function counter(help: string, labels: MetricRow['labels'] = {}, seriesMax?: number): MetricRow {
  return { type: 'counter', help, labels, seriesMax };
}

function gauge(help: string, labels: MetricRow['labels'] = {}, seriesMax?: number): MetricRow {
  return { type: 'gauge', help, labels, seriesMax };
}

function histogram(help: string, buckets: readonly number[], labels: MetricRow['labels'] = {}): MetricRow {
  return { type: 'histogram', help, labels, buckets };
}

/** Units as Prometheus has them: `…_total` counts, `…_seconds` and `…_bytes` measure. */
export const METRICS = {
  millwright_build_info: gauge('1, with the version of the program.', { version: 1 }),

  millwright_ingress_requests_total: counter(
    'Requests of senders by what was answered; accepted: 202, over_rate: throttled, sender_gone: nobody was left.',
    { outcome: INGRESS_OUTCOMES },
  ),
  millwright_ingress_request_duration_seconds: histogram(
    'From the head of a request of a sender to its answer.',
    ANSWER_SECONDS,
    { outcome: INGRESS_OUTCOMES },
  ),
  millwright_deliveries_total: counter('Deliveries that passed authentication, by what their transaction decided.', {
    outcome: DELIVERY_OUTCOMES,
  }),
  millwright_acceptance_batch_deliveries: histogram('Deliveries that were committed together.', BATCH_SIZES),
  millwright_acceptance_batch_duration_seconds: histogram(
    'Transactions that accept deliveries, their commit included.',
    ANSWER_SECONDS,
  ),
  millwright_filter_budget_exceeded_total: counter('Deliveries whose filters cost more than they may.'),

  millwright_http_requests_total: counter(
    'Requests of API and pages that are over.',
    { resource: 40, status: ['1xx', '2xx', '3xx', '4xx', '5xx'] },
    160,
  ),
  millwright_http_connections_cut_total: counter('Connections cut off because too many requests waited.'),
  millwright_http_unfinished_body_bytes: gauge('Memory of bodies that are being read of senders without a key.'),
  millwright_http_bodies_refused_total: counter('Bodies refused because too many were being read.'),
  millwright_http_anonymous_connections_cut_total: counter(
    'Connections without a key that were cut off because there were too many, or because nobody read their answers.',
  ),
  millwright_http_anonymous_connections_waiting: gauge(
    'Connections without a key that wait to be read, or for their answer.',
  ),

  millwright_sync_pass_duration_seconds: histogram('Passes over a factory, by how they ended.', WORK_SECONDS, {
    ending: PASS_ENDINGS,
  }),
  millwright_sync_propagation_seconds: histogram(
    'From the first sign of a change (push notice, watcher, request, poll) until this process serves it.',
    WORK_SECONDS,
  ),
  millwright_factories: gauge('Factories by what a condition says of them as their last pass left it.', {
    condition: CONDITIONS,
    status: STATUSES,
  }),
  millwright_factory_fault: gauge(
    'Conditions that are not as they should be: 1 for each factory, and how many beyond 1,000 together as other.',
    { factory: CONDITION_SERIES_MAX, condition: CONDITIONS, status: STATUSES },
    CONDITION_SERIES_MAX,
  ),

  millwright_runs: gauge('Runs that have not ended, by state, in all processes.', { state: LIVE_RUN_STATES }),
  millwright_run_queue_oldest_age_seconds: gauge('Since when the run waits that waits longest; 0: none waits.'),
  millwright_run_start_delay_seconds: histogram('From the creation of a run to the start of its work.', WAIT_SECONDS),
  millwright_run_duration_seconds: histogram('From the start of an execution to its end, by state.', RUN_SECONDS, {
    state: RUN_END_STATES,
  }),
  millwright_runs_started_total: counter('Runs whose work began here.'),
  millwright_runs_ended_total: counter(
    'Runs that ended here; reason: the error code, or none.',
    { state: RUN_END_STATES, reason: 20 },
    40,
  ),
  millwright_run_tokens_total: counter('Tokens that runs used here, as they were counted or as agents tell.'),
  millwright_run_cost_total: counter('What runs cost here, by currency.', { currency: 10 }),
  millwright_leases_lost_total: counter('Leases that another process took over, or that ran out here.', {
    kind: ['run', 'sync'],
  }),
  millwright_executions_reclaimed_total: counter('Executions that nobody supervised any more and were taken over.'),

  millwright_engine_info: gauge('1, with what tells of waiting runs and where they are executed.', {
    engine: 2,
    isolation: 5,
  }),
  millwright_execution_slots: gauge('Places for runs in this process.', { state: ['busy', 'free', 'parked'] }),
  millwright_queue_up: gauge('Whether the queue of a distributed engine can be reached; 1 without one.'),

  millwright_database_up: gauge('Whether the database answers.'),
  millwright_database_transaction_duration_seconds: histogram(
    'Transactions from the first statement that waits to the commit.',
    ANSWER_SECONDS,
    { kind: TRANSACTIONS },
  ),
  millwright_database_errors_total: counter('Transactions that failed.', { kind: TRANSACTIONS }),
  millwright_database_outages_total: counter('Times that the connection to the database was lost.'),
  millwright_database_size_bytes: gauge('What the database takes.'),
  millwright_disk_room_bytes: gauge('Room above the reserve on the disk of the data folder; deliveries stop below 0.'),

  millwright_event_loop_delay_seconds: histogram(
    'How much later than asked a timer ran, ten times a second.',
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  ),
  millwright_trace_spans_total: counter('Spans by what became of them; dropped: the collector is too slow, or away.', {
    result: ['sent', 'failed', 'dropped'],
  }),
  millwright_metrics_read_failures_total: counter('Metrics that could not be read when they were asked for.'),
} as const satisfies Record<`millwright_${string}`, MetricRow>;

export type MetricName = keyof typeof METRICS;

/** What a metric can have at most: series of a histogram are its buckets, its sum and its count. */
export function seriesMaxOf({ type, labels, seriesMax, buckets = [] }: MetricRow): number {
  const each = Object.values(labels).map((values) => (typeof values === 'number' ? values + 1 : values.length));
  const combinations = Math.min(
    seriesMax === undefined ? Infinity : seriesMax + 1,
    each.reduce((product, count) => product * count, 1),
  );
  return type === 'histogram' ? combinations * (buckets.length + 3) : combinations;
}

/** Every combination of labels where all of their values are known; none where they are not. */
export function knownCombinations({ labels }: MetricRow): Record<string, string>[] {
  let found: Record<string, string>[] = [{}];
  for (const [name, values] of Object.entries(labels)) {
    if (typeof values === 'number') return [];
    found = found.flatMap((known) => values.map((value) => ({ ...known, [name]: value })));
  }
  return found;
}
