/** Loaded before the service, by a benchmark: nothing is counted nor measured, as if there were no metrics. */
import { HotHistogram } from '../../../apps/server/process/hot-histogram.ts';
import { Metrics } from '../../../apps/server/process/metrics.ts';

const nothing = (): void => undefined;
for (const name of ['count', 'set', 'observe'] as const) Metrics.prototype[name] = nothing;
HotHistogram.prototype.observe = nothing;
