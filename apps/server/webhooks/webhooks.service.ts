/** Webhooks over the API: looked at everywhere; made, changed, rotated and deleted on dashboard factories. spec: Webhook management; contract 4. */
import type {
  Webhook as WebhookItem,
  WebhookCreate,
  WebhookCreated,
  WebhookList,
  WebhookPatch,
  WebhookRotate,
  WebhookRotated,
} from '#contracts';
import type { Access } from '../store/access/access.ts';
import type { AutomationStore } from '../store/definitions/automations.ts';
import type {
  DefinitionEditStore,
  EditContext,
  EditDecision,
  EditOutcome,
} from '../store/definitions/definition-edits.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { WebhookRow } from '../store/definitions/definition.entities.ts';
import type { WebhookStore } from '../store/definitions/webhooks.ts';
import { isManaged } from '../factories/factories.items.ts';
import { visibleFactory } from '../factories/visible-factories.ts';
import { changedBy, type Caller } from '../http/access-guard.ts';
import { notFound, type RefusalError } from '../http/error-codes.ts';
import type { WantedVersion } from '../http/if-match.ts';
import type { SecretMeans } from './webhook-credentials.ts';
import {
  changedWebhook,
  createdWebhook,
  deletedWebhook,
  rotatedWebhook,
  type WrittenWebhook,
} from './webhook-edits.ts';
import { secretUrlOf, toRotatedItem, toWebhookItem } from './webhooks.items.ts';
import {
  refuseWebhookChange,
  refuseWebhookCreate,
  refuseWebhookDelete,
  refuseRotate,
} from './managed-webhook-files.ts';

export interface WebhookServiceDeps extends SecretMeans {
  uidKey: Uint8Array;
  ingressUrl: string;
  /** Makes what was committed the serving state of this process. */
  changed(): Promise<void>;
}

export class WebhookService {
  private readonly factories: FactoryStore;
  private readonly webhooks: WebhookStore;
  private readonly automations: AutomationStore;
  private readonly edits: DefinitionEditStore;
  private readonly around: WebhookServiceDeps;

  constructor(
    factories: FactoryStore,
    webhooks: WebhookStore,
    automations: AutomationStore,
    edits: DefinitionEditStore,
    around: WebhookServiceDeps,
  ) {
    this.factories = factories;
    this.webhooks = webhooks;
    this.automations = automations;
    this.edits = edits;
    this.around = around;
  }

  /** At most 20, by slug. */
  async list(factoryUid: string, access: Access): Promise<WebhookList> {
    const factory = await visibleFactory(this.factories, factoryUid, access);
    const webhooks = await this.webhooks.list(factoryUid);
    const last = await this.webhooks.lastDeliveries(webhooks.map(({ uid }) => uid));
    return {
      webhooks: webhooks.map((webhook) =>
        toWebhookItem(webhook, { ...this.viewOf(factory), lastDeliveryAtMs: last.get(webhook.uid) }),
      ),
    };
  }

  /** One, with the automations that it can start. */
  async get(factoryUid: string, uid: string, access: Access): Promise<WebhookItem> {
    const factory = await visibleFactory(this.factories, factoryUid, access);
    const webhook = await this.found(factoryUid, uid);
    const last = await this.webhooks.lastDeliveries([uid]);
    return toWebhookItem(webhook, {
      ...this.viewOf(factory),
      lastDeliveryAtMs: last.get(uid),
      usedBy: await this.automations.selecting(factoryUid, uid),
    });
  }

  /** contract 4: full URL and secret are in this answer and in that of a rotation, and nowhere else. */
  async create(factoryUid: string, wanted: WebhookCreate, by: Caller): Promise<WebhookCreated> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const context = this.contextOf<WebhookCreated>(by, (item) => item.secret !== undefined || item.url !== undefined);
    const outcome = await this.edits.edit(
      factoryUid,
      (factory) =>
        answering(createdWebhook(factory, wanted, this.around.uidKey, this.around), (written) =>
          this.toCreated(written),
        ),
      context,
    );
    return this.done(outcome, async () => refuseWebhookCreate(wanted, await this.webhooks.list(factoryUid)));
  }

  async change(
    factoryUid: string,
    uid: string,
    wanted: WebhookPatch,
    isWanted: WantedVersion,
    by: Caller,
  ): Promise<WebhookItem> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const outcome = await this.edits.edit(
      factoryUid,
      (factory) =>
        answering(changedWebhook(factory, uid, wanted, isWanted, this.around.uidKey), (written) =>
          this.toItem(written),
        ),
      this.contextOf<WebhookItem>(by),
    );
    return this.done(outcome, async () =>
      refuseWebhookChange(
        { webhook: await this.found(factoryUid, uid), text: await this.webhooks.fileText(uid) },
        wanted,
      ),
    );
  }

  /** The old secret is dead with the commit. contract 4 (Rotate). */
  async rotate(
    factoryUid: string,
    uid: string,
    { secret }: WebhookRotate,
    isWanted: WantedVersion,
    by: Caller,
  ): Promise<WebhookRotated> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const context = this.contextOf<WebhookRotated>(
      by,
      (item) => item.secret !== undefined || item.rotated.some(({ url }) => url !== undefined),
    );
    const mayChange = mayChangeTeamSecrets(by.access);
    const outcome = await this.edits.edit(
      factoryUid,
      (factory) =>
        answering(rotatedWebhook(factory, uid, secret, isWanted, mayChange, this.around), (written) =>
          this.toRotated(written),
        ),
      context,
    );
    return this.done(outcome, async () => refuseRotate(await this.found(factoryUid, uid)));
  }

  /** Senders get 404 at once; automations that select it stay. */
  async remove(factoryUid: string, uid: string, isWanted: WantedVersion, by: Caller): Promise<void> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const outcome = await this.edits.edit(
      factoryUid,
      (factory) => deletedWebhook(factory, uid, isWanted),
      this.contextOf<undefined>(by),
    );
    return this.done(outcome, async () => refuseWebhookDelete(await this.found(factoryUid, uid)));
  }

  private async found(factoryUid: string, uid: string): Promise<WebhookRow> {
    const webhook = await this.webhooks.find(uid);
    if (webhook === undefined || webhook.factory_uid !== factoryUid) throw notFound('the webhook');
    return webhook;
  }

  /** `shows`: whether an answer holds what is shown once: it is not kept for whoever repeats the request. */
  private contextOf<Answer extends WebhookItem | undefined>(
    by: Caller,
    shows: (answer: Answer) => boolean = () => false,
  ): EditContext<Answer> {
    return {
      newEntry: () => changedBy(by, this.around.newId()),
      complete: (answer) => {
        if (answer !== undefined && shows(answer)) by.idempotency?.showsSecretOf(`webhook ${answer.uid}`);
        return by.idempotency?.store(200, answer);
      },
    };
  }

  private async done<Answer>(
    outcome: EditOutcome<Answer, RefusalError>,
    managed: () => Promise<RefusalError>,
  ): Promise<Answer> {
    switch (outcome.kind) {
      case 'done':
        await this.around.changed();
        return outcome.answer;
      case 'refused':
        throw outcome.no;
      case 'gone':
        throw notFound('the factory');
      case 'managed':
        throw await managed();
    }
  }

  private viewOf(factory: Factory): { ingressUrl: string; isManaged: boolean } {
    return { ingressUrl: this.around.ingressUrl, isManaged: isManaged(factory) };
  }

  private toItem({ webhook, lastDeliveryAtMs }: WrittenWebhook): WebhookItem {
    return toWebhookItem(webhook, { ingressUrl: this.around.ingressUrl, isManaged: false, lastDeliveryAtMs });
  }

  private toCreated(written: WrittenWebhook): WebhookCreated {
    const { webhook, secret } = written;
    const url = secretUrlOf(webhook, this.around.ingressUrl, secret?.text);
    return {
      ...this.toItem(written),
      ...(secret?.generated === true ? { secret: secret.text } : {}),
      ...(url === undefined ? {} : { url }),
    };
  }

  private toRotated(written: WrittenWebhook): WebhookRotated {
    const { secret, moved = [] } = written;
    return {
      ...this.toCreated(written),
      rotated: moved.map((webhook) => toRotatedItem(webhook, this.around.ingressUrl, secret?.text ?? '')),
    };
  }
}

function answering<Written, Answer>(
  decided: EditDecision<Written, RefusalError>,
  toAnswer: (written: Written) => Answer,
): EditDecision<Answer, RefusalError> {
  return decided.ok ? { ...decided, answer: (after) => toAnswer(decided.answer(after)) } : decided;
}

/** Team secrets concern everybody: only an admin who is limited to no factory changes them. contract 2. */
function mayChangeTeamSecrets({ role, factories }: Access): boolean {
  return role === 'admin' && factories === undefined;
}
