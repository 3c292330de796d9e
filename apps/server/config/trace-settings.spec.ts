/** Where traces go: the standard variables, and what is wrong with them. contract §1.9 (Traces). */
import { ConfigError, readConfig } from './config.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('traces', () => {
  it.each([
    [{}],
    [{ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'nonsense of another program' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ])('go nowhere with %j', (environment) => expect(readConfig(environment).traces).toBeUndefined());

  it('go to an endpoint, by protobuf, all of them, unless something else is said', () => {
    expect(readConfig(ENDPOINT).traces).toEqual({
      endpoint: 'http://127.0.0.1:4318/v1/traces',
      headers: {},
      protocol: 'http/protobuf',
      timeoutMs: 10_000,
      sampleShare: 1,
      serviceName: 'millwright',
      resource: {},
    });
  });

  it('go where and how their own variables say before the common ones', () => {
    expect(
      readConfig({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://other.example/',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/take',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc%3D%3D, x-team = mill',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=traces',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        OTEL_SERVICE_NAME: 'mill-of-tests',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,region=eu%2C1',
      }).traces,
    ).toEqual({
      endpoint: 'https://traces.example/take',
      headers: { authorization: 'Basic abc==', 'x-team': 'traces' },
      protocol: 'http/json',
      timeoutMs: 500,
      sampleShare: 0.25,
      serviceName: 'mill-of-tests',
      resource: { 'deployment.environment': 'test', region: 'eu,1' },
    });
  });

  it.each([
    ['always_on', 1],
    ['always_off', 0],
    ['parentbased_always_off', 0],
    ['traceidratio', 1],
  ])('sampled by %s are %d of all', (sampler, share) =>
    expect(readConfig({ ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler }).traces?.sampleShare).toBe(share),
  );

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', '127.0.0.1:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://127.0.0.1:4317'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'x'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret-without-a-name'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%E0%A4%A'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '600001'],
    ['OTEL_TRACES_SAMPLER', 'xray'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ])('%s=%s is refused by its name, and never its value', (name, value) => {
    const read = (): unknown => readConfig({ ...ENDPOINT, [name]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name}: must be`));
    expect(read).not.toThrow(value);
  });

  it.each(['2', '-0.1', 'half'])('sampled by a share of %s are refused', (share) =>
    expect(() =>
      readConfig({ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: share }),
    ).toThrow(/^OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1/),
  );
});
