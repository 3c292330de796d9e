/** Which snapshots a run is made of. spec: What a webhook-started run receives; contract §5.10, §10. */
import { describe, expect, it } from '@jest/globals';
import type { ServerAgent } from '#agents';
import type { AgentDefaults, AutomationDefinition } from '#definitions';
import {
  toNewRuns as toNewRunsOf,
  type StartingAutomation,
  type StartingDelivery,
  type StartingWebhook,
} from './new-runs.ts';

const automation = (
  uid: string,
  prompt: string,
  agent: AgentDefaults = {},
  more: Partial<AutomationDefinition> = {},
): StartingAutomation => {
  const definition: AutomationDefinition = {
    name: `slug-${uid}`,
    path: 'automations/x/automation.md',
    enabled: true,
    prompt,
    agent,
    triggers: [],
    ...more,
  };
  return { uid, name: `name-${uid}`, definition };
};

type DefinedWebhook = Omit<StartingWebhook, 'automations'> & { automations: StartingAutomation[] };

function webhook(automations: StartingAutomation[], agentDefaults?: AgentDefaults): DefinedWebhook {
  return {
    uid: 'wh_1',
    name: 'Orders "live"',
    automations,
    factory: {
      uid: 'fac_1',
      revision: 'main@sha1:abc',
      serviceAccountUid: 'svc_1',
      agentDefaults,
    },
  };
}

const SERVER = { harness: 'builtin', builtInModel: 'demo' };
const DELIVERY = {
  entryId: 'entry-1',
  deliveryId: 'd "1"\n',
  receivedAtMs: Date.UTC(2030, 0, 1),
  payload: { pr: { number: 7 } },
};

function newIds(): () => string {
  let count = 0;
  return () => `run-${(count += 1)}`;
}

/** Runs of these automations of the webhook. */
function toNewRuns(
  uids: readonly string[],
  served: DefinedWebhook,
  delivery: StartingDelivery,
  serverAgent: ServerAgent,
  newId: () => string,
) {
  return toNewRunsOf(
    new Map(
      uids.map((uid) => [uid, served.automations.find((one) => one.uid === uid)?.definition as AutomationDefinition]),
    ),
    served,
    delivery,
    { serverAgent, newId },
  );
}

describe('runs of a delivery', () => {
  it('one for each automation that fires, in order', () => {
    const served = webhook([automation('a', 'One.'), automation('b', 'Two.'), automation('c', 'Three.')]);
    const runs = toNewRuns(['c', 'a'], served, DELIVERY, SERVER, newIds());
    expect(runs.map(({ runId, automationUid, prompt }) => [runId, automationUid, prompt.split('\n')[0]])).toEqual([
      ['run-1', 'c', 'Three.'],
      ['run-2', 'a', 'One.'],
    ]);
    expect(toNewRuns([], served, DELIVERY, SERVER, newIds())).toEqual([]);
  });

  it('knows where it came from', () => {
    const [run] = toNewRuns(['a'], webhook([automation('a', 'One.\nMore.')]), DELIVERY, SERVER, newIds());
    expect(run).toMatchObject({
      source: 'CUSTOM_WEBHOOK',
      creatorUid: 'svc_1',
      factoryUid: 'fac_1',
      automationUid: 'a',
      webhookUid: 'wh_1',
      entryId: 'entry-1',
      deliveryId: 'd "1"\n',
      definitionRevision: 'main@sha1:abc',
      createdAtMs: DELIVERY.receivedAtMs,
      title: 'name-a · One.',
      configName: 'name-a',
    });
  });

  it('its prompt is body, blank line, envelope; the delivery id cannot break out of its line', () => {
    const [run] = toNewRuns(['a'], webhook([automation('a', 'Body.\n\n')]), DELIVERY, SERVER, newIds());
    expect(run?.prompt.startsWith('Body.\n\n---\n')).toBe(true);
    expect(run?.prompt).toContain(
      'Webhook: "Orders \\"live\\"" (wh_1)\nDelivery ID: "d \\"1\\"\\n"\nReceived at: 2030-01-01T00:00:00.000Z\n',
    );
  });

  it('the automation’s configuration goes before the factory’s', () => {
    const served = webhook([automation('a', 'One.', { model: 'of-automation' })], {
      model: 'of-factory',
      basePrompt: 'of-factory',
    });
    const [run] = toNewRuns(['a'], served, DELIVERY, SERVER, newIds());
    expect(JSON.parse(run?.agentConfig ?? '')).toMatchObject({
      name: 'name-a',
      model_id: 'of-automation',
      base_prompt: 'of-factory',
    });
  });

  it('takes limits, network and its group from the automation', () => {
    const said: Partial<AutomationDefinition> = {
      limits: { tokens: 5, minutes: 2 },
      network: { allow: ['example.com'] },
      concurrency: { group: '/pr/number', whenBusy: 'replace' },
    };
    const [run, other, plain] = toNewRuns(
      ['a', 'b', 'c'],
      webhook([
        automation('a', 'One.', {}, said),
        automation('b', 'Two.', {}, { concurrency: { group: '/pr/none' } }),
        automation('c', 'Three.'),
      ]),
      DELIVERY,
      SERVER,
      newIds(),
    );
    expect(run).toMatchObject({
      limits: '{"tokens":5,"minutes":2}',
      network: '{"allow":["example.com"]}',
      concurrencyGroup: expect.stringMatching(/^value:a:/),
      whenBusy: 'replace',
    });
    expect(other?.concurrencyGroup).toBeUndefined();
    expect(
      Object.keys(plain ?? {}).filter((member) =>
        ['limits', 'network', 'concurrencyGroup', 'whenBusy'].includes(member),
      ),
    ).toEqual([]);
  });

  it('is a snapshot: a later edit of the definition does not reach it', () => {
    const served = automation('a', 'Before.');
    const [run] = toNewRuns(['a'], webhook([served]), DELIVERY, SERVER, newIds());
    served.definition.prompt = 'After.';
    expect(run?.prompt.startsWith('Before.')).toBe(true);
  });
});
