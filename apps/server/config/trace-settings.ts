/**
 * Where traces go, by the standard variables of OpenTelemetry; nowhere unless an endpoint is given. contract §1.9
 * (Traces).
 */

import type { Variable } from './variables.ts';

/** How spans are sent. */
export interface TraceSettings {
  /** Address that spans are posted to. */
  endpoint: string;
  /** Sent with each request; a collector's key may be among them. */
  headers: Readonly<Record<string, string>>;
  protocol: 'http/protobuf' | 'http/json';
  /** For one request. */
  timeoutMs: number;
  /** Part of all traces, 0 to 1. */
  sampleShare: number;
  serviceName: string;
  /** What else is said of the service with all its spans. */
  resource: Readonly<Record<string, string>>;
}

type Reader = (name: string) => string | undefined;
type Fault = (variable: string, rule: string) => void;

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const TIMEOUT_MS = 10_000;
const TIMEOUT_MS_MAX = 60_000;

/** Undefined: nothing is traced. Faults are found where something is. */
export function traceSettings(read: Reader, fault: Fault): TraceSettings | undefined {
  const own = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const base = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const isOff = read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || read('OTEL_TRACES_EXPORTER') === 'none';
  if (isOff || (own === undefined && base === undefined)) return undefined;
  const exporter = read('OTEL_TRACES_EXPORTER');
  if (exporter !== undefined && exporter !== 'otlp') fault('OTEL_TRACES_EXPORTER', 'must be otlp or none');
  return {
    endpoint:
      own === undefined
        ? `${addressOf('OTEL_EXPORTER_OTLP_ENDPOINT', base ?? '', fault)}/v1/traces`
        : addressOf('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own, fault),
    headers: {
      ...pairsOf('OTEL_EXPORTER_OTLP_HEADERS', read, fault),
      ...pairsOf('OTEL_EXPORTER_OTLP_TRACES_HEADERS', read, fault),
    },
    protocol: protocolOf(read, fault),
    timeoutMs: timeoutOf(read, fault),
    sampleShare: sampleShareOf(read, fault),
    serviceName: read('OTEL_SERVICE_NAME') ?? 'millwright',
    resource: pairsOf('OTEL_RESOURCE_ATTRIBUTES', read, fault),
  };
}

function addressOf(name: string, text: string, fault: Fault): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    fault(name, 'must be a URL like http://127.0.0.1:4318 (OTLP over HTTP; not gRPC)');
  return text.replace(/\/+$/, '');
}

function protocolOf(read: Reader, fault: Fault): TraceSettings['protocol'] {
  const name =
    read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') === undefined
      ? 'OTEL_EXPORTER_OTLP_PROTOCOL'
      : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
  const text = read(name) ?? 'http/protobuf';
  const known = PROTOCOLS.find((protocol) => protocol === text);
  if (known === undefined) fault(name, `must be ${PROTOCOLS.join(' or ')}`);
  return known ?? 'http/protobuf';
}

function timeoutOf(read: Reader, fault: Fault): number {
  const own = read('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT');
  const name = own === undefined ? 'OTEL_EXPORTER_OTLP_TIMEOUT' : 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT';
  const text = own ?? read(name) ?? String(TIMEOUT_MS);
  const milliseconds = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (milliseconds < 1 || milliseconds > TIMEOUT_MS_MAX)
    fault(name, `must be milliseconds from 1 to ${TIMEOUT_MS_MAX}`);
  return milliseconds;
}

/** Nobody's decision is inherited, a sender's is not believed: samplers by a parent are those of their root. */
function sampleShareOf(read: Reader, fault: Fault): number {
  switch (read('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on') {
    case 'always_on':
    case 'parentbased_always_on':
      return 1;
    case 'always_off':
    case 'parentbased_always_off':
      return 0;
    case 'traceidratio':
    case 'parentbased_traceidratio': {
      const text = read('OTEL_TRACES_SAMPLER_ARG') ?? '1';
      const share = /^(0(\.\d+)?|1(\.0+)?|\.\d+)$/.test(text) ? Number(text) : undefined;
      if (share === undefined) fault('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
      return share ?? 1;
    }
    default:
      fault(
        'OTEL_TRACES_SAMPLER',
        'must be always_on, always_off or traceidratio, or one of these behind parentbased_',
      );
      return 1;
  }
}

/** `name=value,…`, values percent-encoded. */
function pairsOf(name: string, read: Reader, fault: Fault): Record<string, string> {
  const parts = (read(name) ?? '').split(',').filter((part) => part.trim() !== '');
  const pairs = parts.map((part) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part));
  try {
    return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? raise(), decodeURIComponent(pair?.[2] ?? '')]));
  } catch {
    fault(name, 'must be a list like name=value,name=value with percent-encoded values');
    return {};
  }
}

function raise(): never {
  throw new Error('no pair');
}

/** Of OpenTelemetry: where traces go. Nothing is traced without an endpoint. */
export const TRACE_VARIABLES = [
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    byDefault: '',
    meaning: 'collector of traces (OTLP over HTTP), like `http://127.0.0.1:4318`; `/v1/traces` is added',
  },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', byDefault: '', meaning: 'the same, taken as it is' },
  { name: 'OTEL_EXPORTER_OTLP_HEADERS', byDefault: '', meaning: '`name=value,…` sent with each request' },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', byDefault: '', meaning: 'further ones' },
  { name: 'OTEL_EXPORTER_OTLP_PROTOCOL', byDefault: 'http/protobuf', meaning: 'or `http/json`' },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', byDefault: '', meaning: 'the same for traces' },
  { name: 'OTEL_EXPORTER_OTLP_TIMEOUT', byDefault: '10000', meaning: 'milliseconds for one request' },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', byDefault: '', meaning: 'the same for traces' },
  {
    name: 'OTEL_TRACES_SAMPLER',
    byDefault: 'parentbased_always_on',
    meaning: 'which traces: `always_on`, `always_off`, `traceidratio`, or one of these behind `parentbased_`',
  },
  { name: 'OTEL_TRACES_SAMPLER_ARG', byDefault: '1', meaning: 'part of all for `traceidratio`, 0 to 1' },
  { name: 'OTEL_TRACES_EXPORTER', byDefault: 'otlp', meaning: '`none`: nothing is traced' },
  { name: 'OTEL_SDK_DISABLED', byDefault: 'false', meaning: '`true`: nothing is traced' },
  { name: 'OTEL_SERVICE_NAME', byDefault: 'millwright', meaning: 'what traces call the service' },
  { name: 'OTEL_RESOURCE_ATTRIBUTES', byDefault: '', meaning: '`name=value,…` that all spans have' },
] as const satisfies readonly Variable[];
