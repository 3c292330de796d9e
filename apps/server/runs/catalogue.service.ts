/** Skills, environments and models as clients choose from them. contract §3.1 (agent, environments, models). */
import { Inject, Injectable } from '@nestjs/common';
import { BUILT_IN_HARNESS, HARNESS_NAMES, modelFacts, readSkill, type AgentAvailability } from '#agents';
import type { AgentListResponse, AgentSkill, CloudEnvironment, CloudEnvironmentList, ModelList } from '#contracts';
import type { EnvironmentDefinition, SkillDefinition } from '#definitions';
import { repositoryName } from '#runs';
import { toTime } from '../http/queries.ts';
import type { Access } from '../store/access/access.ts';
import { type AppliedResource, CatalogueStore } from '../store/definitions/catalogue.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { SOURCES } from '../sync/sources/registry.ts';

/** Which skills, in which order. */
export interface SkillQuery {
  /** owner/repo. */
  repo?: string;
  sort_by: 'name' | 'last_run';
}

/** In which order. */
export interface EnvironmentQuery {
  sort_by: 'name' | 'last_updated';
}

type Variant = AgentSkill['variants'][number];

@Injectable()
export class CatalogueService {
  constructor(
    private readonly catalogue: CatalogueStore,
    private readonly runAgents: RunAgents,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Skills of the visible factories, each factory's own as a variant. */
  async agents({ repo, sort_by: sortBy }: SkillQuery, access: Access): Promise<AgentListResponse> {
    const environments = await this.catalogue.environments(access.factories);
    const skills = (await this.catalogue.skills(access.factories)).filter(
      (skill) => repo === undefined || repo === repositoryText(skill),
    );
    const byName = new Map<string, Variant[]>();
    for (const skill of skills) {
      const id = skillId(skill);
      const latest = await this.catalogue.latestUse('skill_spec', skill.factory.uid, [id, skill.slug]);
      byName.set(skill.slug, [
        ...(byName.get(skill.slug) ?? []),
        toVariant(skill, id, environments, latest?.createdAtMs),
      ]);
    }
    const agents = [...byName].map(([name, variants]) => ({ name, variants }));
    return { agents: sortBy === 'name' ? agents : agents.toSorted((a, b) => compare(lastRunOf(b), lastRunOf(a))) };
  }

  async environments({ sort_by: sortBy }: EnvironmentQuery, access: Access): Promise<CloudEnvironmentList> {
    const found = await this.catalogue.environments(access.factories);
    const environments: CloudEnvironment[] = [];
    for (const environment of found) {
      const latest = await this.catalogue.latestUse('environment_id', environment.factory.uid, [
        environment.uid,
        environment.slug,
      ]);
      environments.push({
        uid: environment.uid,
        factory_uid: environment.factory.uid,
        config: toConfig(environment.definition),
        last_updated: toTime(environment.updatedAtMs),
        setup_failed: latest?.errorCode === 'environment_setup_failed',
        last_task_run_timestamp: latest === undefined ? null : toTime(latest.createdAtMs),
      });
    }
    return {
      environments:
        sortBy === 'name' ? environments : environments.toSorted((a, b) => compare(b.last_updated, a.last_updated)),
    };
  }

  /**
   * What the operator lists comes first in rank: a model that a definition names besides is still the server's, as is
   * the one that the agent has which comes with the service. Of harnesses nothing is said where the operator has
   * profiles of its own.
   */
  async modelList(access: Access): Promise<ModelList> {
    const { harness, builtInModel } = this.runAgents.server;
    const own = harness === BUILT_IN_HARNESS ? [builtInModel] : [];
    const listed = new Set([...this.config.models, ...own]);
    const named = await this.catalogue.models(access.factories);
    const here = await this.runAgents.available();
    return {
      models: [...new Set([...listed, ...named])]
        .toSorted(compare)
        .map((id) => ({ id, ...modelFacts(id), source: listed.has(id) ? 'server' : 'definition' })),
      default_model_id: own[0] ?? 'auto',
      ...(this.config.agentProfilesFile === undefined ? { harnesses: [...HARNESS_NAMES] } : {}),
      ...(here === undefined ? {} : { availability: toAvailability(here) }),
    };
  }
}

function toAvailability(here: AgentAvailability): NonNullable<ModelList['availability']> {
  return {
    default_harness: here.harness,
    built_in_harnesses: [...here.builtIn],
    demo_model_only: here.hasDemoModelOnly,
    installed_harnesses: [...here.installed],
    missing_harnesses: Object.entries(here.missing).map(([id, wayOut]) => ({ id, way_out: wayOut })),
  };
}

/** owner/repo of the repository that declares a skill, as far as it has an address. */
function repositoryText({ factory: { source } }: AppliedResource<unknown>): string | undefined {
  const url = SOURCES.repositoryOf(source)?.url;
  const repository = url === undefined ? undefined : repositoryName(url);
  return repository && `${repository.owner}/${repository.name}`;
}

function skillPath({ path, factory: { source } }: AppliedResource<unknown>): string {
  const root = SOURCES.repositoryOf(source)?.path ?? '';
  return root === '' ? path : `${root}/${path}`;
}

function skillId(skill: AppliedResource<SkillDefinition>): string {
  const repository = repositoryText(skill);
  return repository === undefined ? skill.slug : `${repository}:${skillPath(skill)}`;
}

function toVariant(
  skill: AppliedResource<SkillDefinition>,
  id: string,
  environments: readonly AppliedResource<EnvironmentDefinition>[],
  lastRunAtMs: number | undefined,
): Variant {
  const { description, body } = readSkill(skill.definition.text);
  const [owner = '', name = skill.factory.slug] = repositoryText(skill)?.split('/') ?? [];
  return {
    id,
    description,
    base_prompt: body,
    environments: environments
      .filter(({ factory }) => factory.uid === skill.factory.uid)
      .map(({ uid, slug }) => ({ uid, name: slug })),
    source: { owner, name, skill_path: skillPath(skill) },
    factory_uid: skill.factory.uid,
    last_run_timestamp: lastRunAtMs === undefined ? null : toTime(lastRunAtMs),
  };
}

function toConfig({
  name,
  description,
  dockerImage,
  repositories,
  setupCommands,
}: EnvironmentDefinition): CloudEnvironment['config'] {
  const listed = Array.isArray(repositories) ? repositories : [];
  return {
    name,
    description: description ?? null,
    ...(dockerImage === undefined ? {} : { docker_image: dockerImage }),
    github_repos: listed.flatMap((repository) => toRepository(repository) ?? []),
    setup_commands: setupCommands ?? [],
  };
}

/** A file names a repository by owner/name, by an address, or by its parts. */
function toRepository(repository: unknown): { owner: string; repo: string } | undefined {
  if (typeof repository === 'object' && repository !== null) {
    const { owner, name, url } = repository as { owner?: string; name?: string; url?: string };
    if (url !== undefined) return toRepository(url);
    return owner === undefined || name === undefined ? undefined : { owner, repo: name };
  }
  const found = repositoryName(String(repository));
  return found && { owner: found.owner, repo: found.name };
}

/** '' where none has run yet: times of one form sort as texts. */
function lastRunOf({ variants }: AgentSkill): string {
  return (
    variants
      .map(({ last_run_timestamp: at }) => at ?? '')
      .toSorted(compare)
      .at(-1) ?? ''
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
