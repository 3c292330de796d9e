/** Which snapshots a run is made of. spec: What a webhook-started run receives; contract §5.10, §10. */
import { describe, expect, it } from '@jest/globals';
import type { ServerAgent } from '#agents';
import type { AgentDefaults, AutomationDefinition } from '#definitions';
import { firstUuidv7 } from './identifiers.ts';
import {
  promptOf,
  snapshotOf,
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

/** IDs name the milliseconds behind this one. */
const FIRST_MS = Date.UTC(2030, 0, 2);

function newIds(): () => string {
  let count = 0;
  return () => firstUuidv7(FIRST_MS + (count += 1));
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
    expect(runs.map((run) => [run.runId, run.automationUid, promptOf(run).split('\n')[0]])).toEqual([
      [firstUuidv7(FIRST_MS + 1), 'c', 'Three.'],
      [firstUuidv7(FIRST_MS + 2), 'a', 'One.'],
    ]);
    expect(toNewRuns([], served, DELIVERY, SERVER, newIds())).toEqual([]);
  });

  it('knows where it came from', () => {
    const [run] = toNewRuns(['a'], webhook([automation('a', 'One.\nMore.')]), DELIVERY, SERVER, newIds());
    expect(run).toMatchObject({
      automationUid: 'a',
      entryId: 'entry-1',
      deliveryId: 'd "1"\n',
      createdAtMs: FIRST_MS + 1,
      snapshot: {
        creatorUid: 'svc_1',
        factoryUid: 'fac_1',
        automationUid: 'a',
        webhookUid: 'wh_1',
        definitionRevision: 'main@sha1:abc',
        title: 'name-a · One.',
        configName: 'name-a',
      },
    });
  });

  it('its prompt is body, blank line, envelope; the delivery id cannot break out of its line', () => {
    const [run] = toNewRuns(['a'], webhook([automation('a', 'Body.\n\n')]), DELIVERY, SERVER, newIds());
    const prompt = run && promptOf(run);
    expect(prompt?.startsWith('Body.\n\n---\n')).toBe(true);
    expect(prompt).toContain('Webhook: "Orders \\"live\\"" (wh_1)\n');
    expect(prompt?.endsWith('\n\nDelivery ID: "d \\"1\\"\\n"\nReceived at: 2030-01-01T00:00:00.000Z')).toBe(true);
  });

  it('the automation’s configuration goes before the factory’s', () => {
    const served = webhook([automation('a', 'One.', { model: 'of-automation' })], {
      model: 'of-factory',
      basePrompt: 'of-factory',
    });
    const [run] = toNewRuns(['a'], served, DELIVERY, SERVER, newIds());
    expect(JSON.parse(run?.snapshot.agentConfig ?? '')).toMatchObject({
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
      snapshot: { limits: '{"tokens":5,"minutes":2}', network: '{"allow":["example.com"]}' },
      concurrencyGroup: expect.stringMatching(/^value:a:/),
      whenBusy: 'replace',
    });
    expect(other?.concurrencyGroup).toBeUndefined();
    expect(plain).toMatchObject({ concurrencyGroup: undefined, whenBusy: undefined });
    expect(Object.keys(plain?.snapshot ?? {}).filter((member) => ['limits', 'network'].includes(member))).toEqual([]);
  });

  it('is a snapshot: a later edit of the definition does not reach it', () => {
    const served = automation('a', 'Before.');
    const [run] = toNewRuns(['a'], webhook([served]), DELIVERY, SERVER, newIds());
    served.definition.prompt = 'After.';
    expect(run && promptOf(run).startsWith('Before.')).toBe(true);
  });

  it('shares its snapshot with every run of the same contents, and its digest with equal ones', () => {
    const served = webhook([automation('a', 'One.'), automation('b', 'One.')]);
    const ids = newIds();
    const [a, b] = toNewRuns(['a', 'b'], served, DELIVERY, SERVER, ids);
    const [again] = toNewRuns(['a'], served, { ...DELIVERY, deliveryId: 'other' }, SERVER, ids);
    expect(again?.snapshot).toBe(a?.snapshot);
    const equal = toNewRuns(['a'], webhook([automation('a', 'One.')]), DELIVERY, SERVER, ids)[0]?.snapshot;
    expect(equal).toEqual(a?.snapshot);
    for (const other of [
      b?.snapshot,
      toNewRuns(['a'], webhook([automation('a', 'Two.')]), DELIVERY, SERVER, ids)[0]?.snapshot,
      toNewRuns(['a'], { ...served, name: 'Other' }, DELIVERY, SERVER, ids)[0]?.snapshot,
      toNewRuns(['a'], served, DELIVERY, { ...SERVER, builtInModel: 'other' }, ids)[0]?.snapshot,
    ])
      expect(other?.digest).not.toEqual(a?.snapshot.digest);
    expect(a?.snapshot.digest).toHaveLength(16);
  });

  it('a run that no delivery starts takes the same from its automation', () => {
    const served = automation('a', 'One.', {}, { concurrency: {} });
    const { factory } = webhook([]);
    expect(snapshotOf(served, factory, SERVER)).toMatchObject({
      prompt: 'One.',
      automationUid: 'a',
      concurrencyGroup: 'automation:a',
    });
  });
});
