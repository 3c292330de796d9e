/**
 * Webhooks over the API: looked at everywhere; made, changed, rotated and deleted on dashboard factories. spec: Webhook
 * management; contract §4.
 */
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type {
  Webhook as WebhookItem,
  WebhookCreate,
  WebhookCreated,
  WebhookList,
  WebhookPatch,
  WebhookRotate,
  WebhookRotated,
} from '#contracts';
import {
  changedWebhook,
  createdWebhook,
  deletedWebhook,
  refuseWebhookChange,
  refuseWebhookCreate,
  refuseWebhookDelete,
  refuseWebhookRotate,
  rotatedWebhook,
  type DecidedEdit,
  type EditRefusal,
  type EditVerdict,
  type NewSecretValue,
} from '#management';
import type { Access } from '../store/access/access.ts';
import { AutomationStore } from '../store/definitions/automations.ts';
import {
  type DefinitionEdit,
  DefinitionEditStore,
  type EditContext,
  type EditDecision,
  type EditedFactory,
  type EditOutcome,
} from '../store/definitions/definition-edits.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { WebhookStore } from '../store/definitions/webhooks.ts';
import type { WebhookRow } from '../store/definitions/definition.entities.ts';
import { isManaged } from '../factories/factories.items.ts';
import { visibleFactory, changedBy, type Caller } from '../http/access-guard.ts';
import { editRefusalError } from '../http/problem-filter.ts';
import { notFound } from '../http/error-codes.ts';
import type { WantedVersion } from '../http/conditional-requests.ts';
import { Installation } from '../keys/installation.ts';
import { CONFIG, IdSource } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { SecretService } from '../secrets/secrets.service.ts';
import { secretUrlOf, toRotatedItem, toWebhookItem } from './webhooks.items.ts';
import { ServingPublisher } from './serving-state.ts';

/** Random bytes of a secret that is made for a webhook. */
const SECRET_BYTES = 32;

/** A webhook as an edit has written it, read in the same transaction. */
interface WrittenWebhook {
  webhook: WebhookRow;
  lastDeliveryAtMs?: number;
  /** A value that came into use. */
  secret?: NewSecretValue;
  /** Every webhook whose secret has a new value. */
  moved: readonly WebhookRow[];
}

@Injectable()
export class WebhookService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly webhooks: WebhookStore,
    private readonly automations: AutomationStore,
    private readonly edits: DefinitionEditStore,
    private readonly publisher: ServingPublisher,
    private readonly installation: Installation,
    @Inject(CONFIG) private readonly config: Config,
    private readonly ids: IdSource,
    private readonly secrets: SecretService,
  ) {}

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

  /** contract §4: full URL and secret are in this answer and in that of a rotation, and nowhere else. */
  async create(factoryUid: string, wanted: WebhookCreate, by: Caller): Promise<WebhookCreated> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const context = this.contextOf<WebhookCreated>(by, (item) => item.secret !== undefined || item.url !== undefined);
    const outcome = await this.edits.edit(
      factoryUid,
      (factory) =>
        this.answering(
          createdWebhook(factory, wanted, { uidKey: this.installation.uidKey, random: randomBytes(SECRET_BYTES) }),
          (written) => this.toCreated(written),
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
        this.answering(changedWebhook(factory, { uid, isWanted }, wanted, this.installation.uidKey), (written) =>
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

  /** The old secret is dead with the commit. contract §4.4 (Rotate). */
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
      (factory) => {
        const request = { secret, mayChangeTeamSecrets: mayChange, random: randomBytes(SECRET_BYTES) };
        return this.answering(rotatedWebhook(factory, { uid, isWanted }, request), (written) =>
          this.toRotated(written),
        );
      },
      context,
    );
    return this.done(outcome, async () => refuseWebhookRotate(await this.found(factoryUid, uid)));
  }

  /** Senders get 404 at once; automations that select it stay. */
  async remove(factoryUid: string, uid: string, isWanted: WantedVersion, by: Caller): Promise<void> {
    await visibleFactory(this.factories, factoryUid, by.access);
    const outcome = await this.edits.edit(
      factoryUid,
      (factory): EditDecision<undefined, EditRefusal> => {
        const decided = deletedWebhook(factory, { uid, isWanted });
        return decided.ok ? { ...this.writesOf(decided), answer: () => undefined } : decided;
      },
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
      newEntry: () => changedBy(by, this.ids.newId()),
      complete: (answer) => {
        if (answer !== undefined && shows(answer)) by.idempotency?.showsSecretOf(`webhook ${answer.uid}`);
        return by.idempotency?.store(200, answer);
      },
    };
  }

  private async done<Answer>(
    outcome: EditOutcome<Answer, EditRefusal>,
    managed: () => Promise<EditRefusal>,
  ): Promise<Answer> {
    switch (outcome.kind) {
      case 'done':
        await this.publisher.publishCommitted();
        return outcome.answer;
      case 'refused':
        throw editRefusalError(outcome.reason);
      case 'gone':
        throw notFound('the factory');
      case 'managed':
        throw editRefusalError(await managed());
    }
  }

  /** What was decided, and the answer that tells of the webhook as it was written. */
  private answering<Answer>(
    decided: EditVerdict,
    toAnswer: (written: WrittenWebhook) => Answer,
  ): EditDecision<Answer, EditRefusal> {
    return decided.ok ? { ...this.writesOf(decided), answer: (after) => toAnswer(writtenIn(after, decided)) } : decided;
  }

  /** What is written, secrets sealed. */
  private writesOf({
    secrets = [],
    objects,
    moved,
    deletions,
    change,
  }: DecidedEdit): Omit<DefinitionEdit<never>, 'answer'> {
    const sealed = secrets.map(({ owner, name, text }) => ({
      id: this.ids.newId(),
      owner,
      name,
      value: text === undefined ? undefined : this.secrets.sealing(Buffer.from(text, 'utf8')),
    }));
    return { ok: true, secrets: sealed, objects, moved, deletions, change };
  }

  private viewOf(factory: Factory): { ingressUrl: string; isManaged: boolean } {
    return { ingressUrl: this.config.ingressUrl, isManaged: isManaged(factory) };
  }

  private toItem({ webhook, lastDeliveryAtMs }: WrittenWebhook): WebhookItem {
    return toWebhookItem(webhook, { ingressUrl: this.config.ingressUrl, isManaged: false, lastDeliveryAtMs });
  }

  private toCreated(written: WrittenWebhook): WebhookCreated {
    const { webhook, secret } = written;
    const url = secretUrlOf(webhook, this.config.ingressUrl, secret?.text);
    return {
      ...this.toItem(written),
      ...(secret?.generated === true ? { secret: secret.text } : {}),
      ...(url === undefined ? {} : { url }),
    };
  }

  private toRotated(written: WrittenWebhook): WebhookRotated {
    const { secret, moved } = written;
    return {
      ...this.toCreated(written),
      rotated: moved.map((webhook) => toRotatedItem(webhook, this.config.ingressUrl, secret?.text ?? '')),
    };
  }
}

/** The webhook that was written, and those that its rotation moved. */
function writtenIn(after: EditedFactory, { uid, value, moved = [] }: DecidedEdit): WrittenWebhook {
  const webhook = after.webhooks.find((candidate) => candidate.uid === uid);
  if (webhook === undefined) throw new Error('a webhook that was written is not there');
  const uids = new Set(moved);
  return {
    webhook,
    lastDeliveryAtMs: after.lastDeliveries.get(uid),
    secret: value,
    moved: after.webhooks.filter((candidate) => uids.has(candidate.uid)),
  };
}

/** Team secrets concern everybody: only an admin who is limited to no factory changes them. contract §2. */
function mayChangeTeamSecrets({ role, factories }: Access): boolean {
  return role === 'admin' && factories === undefined;
}
