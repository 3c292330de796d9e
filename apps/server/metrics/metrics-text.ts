/** The figures as a collector asks for them, made once a second at most. contract §1.7. */
import { Injectable } from '@nestjs/common';
import { Metrics, METRICS_CONTENT_TYPES, type MetricsFormat } from '../process/metrics.ts';
import { CachedRead } from './cached-read.ts';

/** Collectors ask every few seconds; one that asks ten times a second gets the same text. */
const MADE_EVERY_MS = 1_000;

export interface MetricsAnswer {
  contentType: string;
  text: string;
}

@Injectable()
export class MetricsText {
  private readonly texts: Readonly<Record<MetricsFormat, CachedRead<string>>>;

  constructor(metrics: Metrics) {
    this.texts = {
      text: new CachedRead(MADE_EVERY_MS, () => metrics.text('text')),
      openmetrics: new CachedRead(MADE_EVERY_MS, () => metrics.text('openmetrics')),
    };
  }

  /** `accept`: the header of the request. */
  async answer(accept: string | undefined): Promise<MetricsAnswer> {
    const format = formatFor(accept);
    return { contentType: METRICS_CONTENT_TYPES[format], text: await this.texts[format].get() };
  }
}

/** OpenMetrics for whoever names its first version and does not like the other one better. */
export function formatFor(accept = ''): MetricsFormat {
  const kinds = accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const named = new Map(parameters.map((each) => each.split('=', 2) as [string, string]));
    return { type, version: named.get('version'), quality: Number(named.get('q') ?? 1) };
  });
  const best = (isMeant: (kind: (typeof kinds)[number]) => boolean): number =>
    Math.max(0, ...kinds.filter(isMeant).map(({ quality }) => (Number.isFinite(quality) ? quality : 0)));
  const open = best(
    ({ type, version }) => type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'),
  );
  const plain = best(({ type, version }) => type === 'text/plain' && (version === undefined || version === '0.0.4'));
  return open > 0 && open >= plain ? 'openmetrics' : 'text';
}
