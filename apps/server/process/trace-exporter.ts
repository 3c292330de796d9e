/**
 * Spans by the SDK of OpenTelemetry to a collector, over HTTP. Loaded only where an endpoint is given. A collector that
 * hangs or answers nonsense costs a bounded queue, and spans are dropped and counted. contract §1.9 (Traces).
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TraceSettings } from '../config/trace-settings.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { SpanAttributes, SpanStart, StartedSpan, TraceBackend } from './traces.ts';

/** Spans that wait: a second of a busy process, two megabytes. */
const QUEUE_MAX = 4_096;
const BATCH_MAX = 512;
const SEND_EVERY_MS = 1_000;
/** A process that stops sends what it has for this long at most. */
const STOP_MS_MAX = 2_000;
/** What the SDK calls success. */
const EXPORTED = '0';
/** Characters of a value; ours are IDs and words. */
const VALUE_LENGTH_MAX = 200;

export interface TraceExporterDeps {
  settings: TraceSettings;
  /** Which program and process this is. */
  version: string;
  owner: string;
  metrics: Metrics;
  log: Log;
}

/** Connections that are closed when the process stops, whatever is under way on them. */
function agents() {
  const open = [new HttpAgent({ keepAlive: true }), new HttpsAgent({ keepAlive: true })] as const;
  return {
    of: (protocol: string) => (protocol === 'https:' ? open[1] : open[0]),
    destroy: () => open.forEach((agent) => agent.destroy()),
  };
}

export function traceBackend(deps: TraceExporterDeps): TraceBackend {
  const { settings, version, owner } = deps;
  const connections = agents();
  const { endpoint: url, headers, timeoutMs: timeoutMillis } = settings;
  const httpAgentOptions = (protocol: string) => connections.of(protocol);
  const Exporter = settings.protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  const exporter = new Exporter({ url, headers: { ...headers }, timeoutMillis, httpAgentOptions });
  const ids = new GivenIds();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.version': version,
      'service.instance.id': owner,
      ...settings.resource,
    }),
    sampler: new AlwaysOnSampler(), // what is not to be traced does not come here
    idGenerator: ids,
    spanLimits: { attributeValueLengthLimit: VALUE_LENGTH_MAX },
    spanProcessors: [new BoundedProcessor(exporter, deps)],
  });
  const tracer = provider.getTracer('millwright', version);
  return {
    start: (span) => startSpan(span, ids, (name, options, context) => tracer.startSpan(name, options, context)),
    stop: async () => {
      await Promise.race([provider.shutdown().catch(() => undefined), sleep(STOP_MS_MAX, undefined, { ref: false })]);
      connections.destroy();
    },
  };
}

type StartSpan = ReturnType<BasicTracerProvider['getTracer']>['startSpan'];

function startSpan(start: SpanStart, ids: GivenIds, open: StartSpan): StartedSpan {
  const { name, traceId, parentId, link, startMs, isServer = false, attributes = {} } = start;
  ids.next = start;
  const span = open(
    name,
    {
      kind: isServer ? SpanKind.SERVER : SpanKind.INTERNAL,
      startTime: startMs,
      attributes: toAttributes(attributes),
      links: link === undefined ? [] : [{ context: { ...link, traceFlags: TraceFlags.NONE, isRemote: true } }],
    },
    parentId === undefined ? ROOT_CONTEXT : below(traceId, parentId),
  );
  ids.next = undefined;
  return {
    spanId: span.spanContext().spanId,
    end: (more, isFailed) => {
      span.setAttributes(toAttributes(more));
      if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function below(traceId: string, spanId: string): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

function toAttributes(attributes: SpanAttributes): Record<string, string | number | boolean> {
  const known = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[`millwright.${name}`, value] as const],
  );
  return Object.fromEntries(known);
}

/** IDs that are known beforehand: the tracer asks for them while it begins a span. */
class GivenIds {
  next: Pick<SpanStart, 'traceId' | 'spanId'> | undefined;
  private readonly random = new RandomIdGenerator();

  readonly generateTraceId = (): string => this.next?.traceId ?? this.random.generateTraceId();

  readonly generateSpanId = (): string => {
    return this.next?.spanId ?? this.random.generateSpanId();
  };
}

/** The batches of the SDK, behind a door that counts what comes in, is sent, fails, and has no room. */
class BoundedProcessor implements SpanProcessor {
  private readonly batches: BatchSpanProcessor;
  private readonly deps: TraceExporterDeps;
  private waiting = 0;
  private isFailing = false;

  constructor(exporter: SpanExporter, deps: TraceExporterDeps) {
    this.deps = deps;
    this.batches = new BatchSpanProcessor(this.counted(exporter), {
      maxQueueSize: QUEUE_MAX,
      maxExportBatchSize: BATCH_MAX,
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: deps.settings.timeoutMs,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.waiting >= QUEUE_MAX) return this.count('dropped', 1);
    this.waiting += 1;
    this.batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.batches.shutdown();
  }

  private counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        this.waiting -= spans.length;
        exporter.export(spans, (result) => {
          const isSent = String(result.code) === EXPORTED;
          this.count(isSent ? 'sent' : 'failed', spans.length);
          this.noteOutage(!isSent);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    };
  }

  /** A line when it begins and one when it is over; never what the collector said, nor its address. */
  private noteOutage(isFailing: boolean): void {
    if (isFailing !== this.isFailing)
      this.deps.log.warn(isFailing ? 'trace export failed' : 'trace export works again');
    this.isFailing = isFailing;
  }

  private count(result: string, spans: number): void {
    this.deps.metrics.count('millwright_trace_spans_total', { result }, spans);
  }
}
