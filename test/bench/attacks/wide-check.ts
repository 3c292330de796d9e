/** What every delivery pays to find out whether its filters may cost much: nanoseconds, beside the whole delivery. */
import { compileFilter } from '#filters';
import { WideDecisions } from '../../../apps/server/ingress/wide-decisions.ts';
import type { Clock } from '../../../apps/server/process/injection-tokens.ts';
import type { Log } from '../../../apps/server/process/log.ts';
import { Metrics } from '../../../apps/server/process/metrics.ts';
import type { ServedWebhook } from '../../../apps/server/webhooks/served-webhooks.ts';
import { quantile } from '../figures/figures.ts';

const CALLS = 200_000;
const ROUNDS = 9;
/** Of a webhook: one, some, and nearly as many as a body of 1 KiB may meet. */
const TRIGGERS = [1, 50, 400] as const;
const BODY_BYTES = 1_024;

/** In words. `deliveryMicros`: processor time of a whole delivery. */
export function wideCheck(deliveryMicros: number): string {
  const figures = TRIGGERS.map((triggers) => {
    const webhook = webhookOf(triggers);
    const wide = new WideDecisions({} as Clock, {} as Log, new Metrics());
    const beganMs = performance.now();
    wide.isWide(webhook, BODY_BYTES);
    const firstMicros = (performance.now() - beganMs) * 1_000;
    const nanos = quantile(
      Array.from({ length: ROUNDS }, () => nanosOf(() => wide.isWide(webhook, BODY_BYTES))),
      0.5,
    );
    return `${nanos.toFixed(0)} ns with ${triggers} triggers (first time ${firstMicros.toFixed(0)} µs)`;
  });
  return (
    `whether a delivery of 1 KiB may cost much is found out in ${figures.join(', ')}, of ` +
    `${deliveryMicros.toFixed(0)} µs of a delivery`
  );
}

function nanosOf(call: () => boolean): number {
  let wides = 0;
  const beganMs = performance.now();
  for (let count = 0; count < CALLS; count += 1) if (call()) wides += 1;
  const tookMs = performance.now() - beganMs;
  if (wides > 0) throw new Error('an ordinary delivery was taken for a wide one');
  return (tookMs * 1e6) / CALLS;
}

function webhookOf(triggers: number): ServedWebhook {
  const automations = Array.from({ length: triggers }, (_, at) => {
    const compilation = compileFilter({ status: [`failed-${at}`] });
    if (!compilation.ok) throw new Error('a filter of the benchmark is not valid');
    const uid = `auto_${at}`;
    return { uid, id: uid, name: uid, enabled: true, webhookUids: ['wh'], filter: compilation.filter };
  });
  return { uid: 'wh', automations, factory: { uid: 'fac', slug: 'bench' } } as unknown as ServedWebhook;
}
