/**
 * Traces of what the service does, where somebody collects them: from a commit to what serves, and from a delivery to
 * its run, the turns of its agent and their tools. What names a trace is known already: it is the ID of the delivery's
 * entry, or of a run without one, so that nothing has to be stored or handed on. contract §1.9 (Traces).
 */
import { createHash } from 'node:crypto';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A span in hexadecimal: 32 and 16 digits. */
export interface SpanRef {
  traceId: string;
  spanId: string;
}

/** A span that begins. */
export interface SpanStart {
  name: string;
  traceId: string;
  /** Known beforehand to whoever refers to it; undefined: any. */
  spanId?: string;
  /** It serves somebody's request. */
  isServer?: boolean;
  parentId?: string;
  /** Of somebody who is not believed: pointed at, never followed. */
  link?: SpanRef;
  /** Milliseconds since the epoch; undefined: now. */
  startMs?: number;
  attributes?: SpanAttributes;
}

/** A span that lasts. */
export interface StartedSpan {
  readonly spanId: string;
  end(attributes: SpanAttributes, isFailed: boolean): void;
}

/** Where spans go. Throws nothing. */
export interface TraceBackend {
  start(span: SpanStart): StartedSpan;
  /** Sends what is there, in bounded time. */
  stop(): Promise<void>;
}

/** What is under way; of one that nobody collects nothing is known. */
export interface TraceSpan {
  /** Undefined: not traced. */
  readonly traceId: string | undefined;
  /** A part of it. */
  begin(name: string, attributes?: SpanAttributes): TraceSpan;
  /** A part of it, for as long as the work lasts. */
  during<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Once; the second time has no effect. */
  end(attributes?: SpanAttributes, isFailed?: boolean): void;
}

export const NO_SPAN: TraceSpan = {
  traceId: undefined,
  begin: () => NO_SPAN,
  during: (_name, work) => work(),
  end: () => undefined,
};

/** Bits of a trace's ID that are looked at to choose some of all. */
const CHOSEN_BY = 2 ** 56;
const CHOSEN_DIGITS = 14;
const SPAN_DIGITS = 16;

export class Traces {
  private readonly backend: TraceBackend | undefined;
  private readonly share: number;

  /** `share`: of all traces, 0 to 1. Every process chooses the same ones. Without a backend nothing is traced. */
  constructor(backend?: TraceBackend, share = 1) {
    this.backend = backend;
    this.share = share;
  }

  /** Whether anything is traced. */
  get isOn(): boolean {
    return this.backend !== undefined;
  }

  /** The trace of what has this UUID; undefined: it is not traced. */
  traceOf(uuid: string | undefined): string | undefined {
    if (this.backend === undefined || uuid === undefined) return undefined;
    const traceId = uuid.replaceAll('-', '');
    return Number(`0x${traceId.slice(-CHOSEN_DIGITS)}`) / CHOSEN_BY >= 1 - this.share ? traceId : undefined;
  }

  /** The first span of a trace, or one below a span of another process. */
  begin(uuid: string | undefined, start: Omit<SpanStart, 'traceId'>): TraceSpan {
    const traceId = this.traceOf(uuid);
    const { backend } = this;
    return traceId === undefined || backend === undefined ? NO_SPAN : spanOf(backend, { ...start, traceId });
  }

  /** Of bounded time, also where nobody takes the spans. */
  async stop(): Promise<void> {
    await this.backend?.stop();
  }
}

export const NO_TRACES = new Traces();

/** The span that stands for something in its trace, for those who only know its UUID. */
export function spanIdOf(uuid: string): string {
  return createHash('sha256').update(uuid).digest('hex').slice(0, SPAN_DIGITS);
}

/** A `traceparent` of W3C Trace Context, version 00 or later; undefined: there is none that can be read. */
export function readTraceparent(text: string | undefined): SpanRef | undefined {
  const [, version, traceId = '', spanId = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/.exec(text?.slice(0, 255) ?? '') ?? [];
  const isValid = version !== undefined && version !== 'ff' && !/^0*$/.test(traceId) && !/^0*$/.test(spanId);
  return isValid ? { traceId, spanId } : undefined;
}

function spanOf(backend: TraceBackend, start: SpanStart): TraceSpan {
  const started = backend.start(start);
  let isOver = false;
  const span: TraceSpan = {
    traceId: start.traceId,
    begin: (name, attributes) =>
      spanOf(backend, { name, attributes, traceId: start.traceId, parentId: started.spanId }),
    during: async (name, work) => {
      const part = span.begin(name);
      try {
        const result = await work();
        part.end();
        return result;
      } catch (error) {
        part.end({}, true);
        throw error;
      }
    },
    end: (attributes = {}, isFailed = false) => {
      if (!isOver) started.end(attributes, isFailed);
      isOver = true;
    },
  };
  return span;
}
