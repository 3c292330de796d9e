/** A small collector of traces: takes OTLP over HTTP as JSON and keeps the spans; or hangs, or answers nonsense. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  status: { code?: number };
}

interface WireAttribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string; boolValue?: boolean };
}

type WireSpan = Omit<ReceivedSpan, 'attributes'> & { attributes?: WireAttribute[] };

interface WireRequest {
  resourceSpans: { resource: { attributes: WireAttribute[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Of the last request. */
  resource: Record<string, unknown> = {};
  /** Bodies and headers of all requests. */
  readonly requests: { path: string; headers: IncomingMessage['headers']; body: Buffer }[] = [];
  answer: (response: ServerResponse) => void = (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => void this.take(request, response));
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return; // the sender has given up
    this.requests.push({ path: request.url ?? '', headers: request.headers, body });
    if (request.headers['content-type'] === 'application/json') this.read(JSON.parse(body.toString()) as WireRequest);
    this.answer(response);
  }

  private read({ resourceSpans }: WireRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = valuesOf(resource.attributes);
      for (const { spans } of scopeSpans)
        this.spans.push(
          ...spans.map((span) => ({ ...span, attributes: valuesOf(span.attributes), links: span.links ?? [] })),
        );
    }
  }
}

function valuesOf(attributes: readonly WireAttribute[] = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? boolValue : Number(intValue)),
    ]),
  );
}
