/** The standard variables of OpenTelemetry that are read, for the table of all. */
import type { Variable } from './variables.ts';

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
