/** What can be done with agent identities, by whom. contract §3.14 (Agent identities). */
import { Injectable } from '@nestjs/common';
import {
  changedIdentity,
  identityConfig,
  identityProblems,
  publishedIdentity,
  unservedMembers,
  type AgentIdentitySettings,
} from '#agents';
import type { AgentIdentity as AgentIdentityItem, AgentIdentityList, RequestBody } from '#contracts';
import { agentConfigProblems } from '#runs';
import { changedBy, maySee, type Caller } from '../http/access-guard.ts';
import { invalidMembers, lastingConflict, notFound, RefusalError } from '../http/error-codes.ts';
import { toTime } from '../http/queries.ts';
import { IdSource } from '../process/injection-tokens.ts';
import type { Access } from '../store/access/access.ts';
import { AGENT_IDENTITIES_MAX, AgentIdentityStore, type AgentIdentity } from '../store/runs/agent-identities.ts';

@Injectable()
export class AgentIdentityService {
  constructor(
    private readonly identities: AgentIdentityStore,
    private readonly ids: IdSource,
  ) {}

  async list(factoryUid: string | undefined, access: Access): Promise<AgentIdentityList> {
    const found = await this.identities.list(access.factories);
    const wanted = found.filter((identity) => factoryUid === undefined || identity.factoryUid === factoryUid);
    return { agents: wanted.map(toItem) };
  }

  async get(uid: string, access: Access): Promise<AgentIdentityItem> {
    return toItem(await this.visible(uid, access));
  }

  async create(body: RequestBody<'agent-identity-create'>, by: Caller): Promise<AgentIdentityItem> {
    const { access, idempotency } = by;
    const factoryUid = body.factory_uid ?? undefined;
    if (factoryUid === undefined && access.factories !== undefined)
      throw new RefusalError('not_authorized', 'this key is limited to factories: name one as factory_uid');
    if (!maySee(access, factoryUid)) throw notFound('the factory');
    const { settings, error } = checkedSettings({}, body);
    if (settings === undefined) throw error;
    const made = await this.identities.create(
      { uid: this.ids.newId(), factoryUid, name: body.name, settings },
      changedBy(by, this.ids.newId()),
      idempotency && ((stored) => idempotency.store(200, toItem(stored))),
    );
    if (made === 'no-factory') throw notFound('the factory');
    if (made === 'full') throw lastingConflict(`there are ${AGENT_IDENTITIES_MAX} agent identities, and no more fit`);
    return toItem(made);
  }

  async update(uid: string, body: RequestBody<'agent-identity-update'>, by: Caller): Promise<AgentIdentityItem> {
    await this.visible(uid, by.access);
    let refusal: RefusalError | undefined;
    const changed = await this.identities.change(
      uid,
      (before) => {
        const { settings, error } = checkedSettings(before.settings, body);
        refusal = error;
        return settings && { name: body.name ?? before.name, settings };
      },
      changedBy(by, this.ids.newId()),
    );
    if (refusal !== undefined) throw refusal;
    if (changed === undefined) throw notFound('the agent identity');
    return toItem(changed);
  }

  async remove(uid: string, by: Caller): Promise<void> {
    await this.visible(uid, by.access);
    const removed = await this.identities.remove(uid, changedBy(by, this.ids.newId()));
    if (removed === false) throw notFound('the agent identity');
    if (removed !== true)
      throw lastingConflict(
        `schedules use the agent identity: ${removed.used.slice(0, NAMED_MAX).join(', ')}; change or delete them first`,
      );
  }

  private async visible(uid: string, access: Access): Promise<AgentIdentity> {
    const found = await this.identities.find(uid);
    if (found === undefined || !maySee(access, found.factoryUid)) throw notFound('the agent identity');
    return found;
  }
}

/** Schedules that a refusal names. */
const NAMED_MAX = 20;

type CheckedSettings =
  | { settings: AgentIdentitySettings; error?: undefined }
  | { settings?: undefined; error: RefusalError };

/** Settings behind a request, or 422 naming what would be lost, or 400 naming what is wrong. */
function checkedSettings(before: AgentIdentitySettings, body: object): CheckedSettings {
  const request = body as Readonly<Record<string, unknown>>;
  const errors = unservedMembers(request);
  const lost = 'this service does not have all of what is asked for';
  if (errors.length > 0) return { error: new RefusalError('operation_not_supported', lost, { errors }) };
  const settings = changedIdentity(before, request);
  const problems = [...identityProblems(request, settings), ...configProblems(settings)];
  return problems.length > 0 ? { error: invalidMembers(problems) } : { settings };
}

/** Where a member of a run's configuration stands in an identity. */
const POINTERS: Readonly<Record<string, string>> = {
  base_prompt: 'prompt',
  model_id: 'base_model',
};

function configProblems(settings: AgentIdentitySettings): { pointer: string; message: string }[] {
  return agentConfigProblems(identityConfig(settings)).map(({ pointer, message }) => {
    const [, , member = '', ...rest] = pointer.split('/');
    return { pointer: ['', POINTERS[member] ?? member, ...rest].join('/'), message };
  });
}

function toItem({ uid, factoryUid, name, settings, createdAtMs, updatedAtMs }: AgentIdentity): AgentIdentityItem {
  return {
    uid,
    name,
    available: true,
    ...(factoryUid === undefined ? {} : { factory_uid: factoryUid }),
    ...publishedIdentity(settings),
    default_runner_uid: '',
    memory: { attached_stores: [], auto_memory: { enabled: false } },
    created_at: toTime(createdAtMs),
    updated_at: toTime(updatedAtMs),
  } as AgentIdentityItem;
}
