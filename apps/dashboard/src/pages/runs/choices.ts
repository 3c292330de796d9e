/**
 * What the server offers to choose from: models, environments, skills, automations and webhooks, as values and labels.
 */
import { useQuery } from '@tanstack/react-query';
import { useAutomations } from '../../api/automations.ts';
import { api, ask } from '../../api/client.ts';
import { useWebhooks } from '../../api/webhooks.ts';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';

export interface Choice {
  value: string;
  label: string;
}

const STALE_MS = 60_000;

export function useModels(): Choice[] {
  const { data } = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => ask(api.GET('/agent/models', { signal })),
    staleTime: STALE_MS,
  });
  return unique((data?.models ?? []).map(({ id }) => ({ value: id, label: id })));
}

/** Environments of one factory, or of all. */
export function useEnvironments(factoryUid?: string): Choice[] {
  const { data } = useQuery({
    queryKey: ['environments'],
    queryFn: ({ signal }) => ask(api.GET('/agent/environments', { signal })),
    staleTime: STALE_MS,
  });
  const environments = (data?.environments ?? []).filter(
    (environment) => factoryUid === undefined || environment.factory_uid === factoryUid,
  );
  return unique(environments.map(({ uid, config }) => ({ value: uid, label: config.name ?? uid })));
}

/** Skills of one factory, or of all. */
export function useSkills(factoryUid?: string): Choice[] {
  const { data } = useQuery({
    queryKey: ['skills'],
    queryFn: ({ signal }) => ask(api.GET('/agent', { signal })),
    staleTime: STALE_MS,
  });
  const variants = (data?.agents ?? []).flatMap(({ name, variants: all }) =>
    all.map((variant) => ({ ...variant, name })),
  );
  return unique(
    variants
      .filter((variant) => factoryUid === undefined || variant.factory_uid === factoryUid)
      .map(({ id, name }) => ({ value: id, label: name === id ? id : `${name} (${id})` })),
  );
}

export function useAutomationsOf(factoryUid: string): Choice[] {
  const { data } = useAutomations(factoryUid);
  return unique((data ?? []).map(({ uid, name }) => ({ value: uid, label: name })));
}

export function useWebhooksOf(factoryUid: string): Choice[] {
  const { data } = useWebhooks(factoryUid);
  return unique((data ?? []).map(({ uid, name }) => ({ value: uid, label: name })));
}

function unique(choices: readonly Choice[]): Choice[] {
  return [...new Map(choices.map(({ value, label }) => [value, { value, label: withHiddenNamed(label) }])).values()];
}
