/** What rules of references and secrets are for, with an example of what breaks each. contract §8, §2.2. */
import type { RuleText } from './rule-text.ts';

export const REFERENCE_RULE_TEXTS = {
  'secret-known': {
    why:
      'The name is checked against the secrets that the factory may use; one that is not granted looks ' +
      'like one that does not exist. Make it with "millwright secrets set NAME", or grant it with ' +
      '"millwright secrets grant NAME --factories FACTORY".',
  },
  'secret-usable': {
    why:
      'The value that is set cannot serve this way of authentication: it is too short, or holds characters ' +
      'that a header or a URL cannot carry. Set another value, or choose another authMode.',
  },
  'secret-unset': {
    why:
      'An enabled webhook whose secret has no value refuses everybody. Set it, or write enabled: false ' +
      'until it is set.',
  },
  'secret-value': {
    why:
      'Whoever may read the repository, its clones and the logs of its CI has what is in its files, for ' +
      'ever. Files name secrets; the value goes to the service with "millwright secrets set NAME", on ' +
      'standard input. A value that was committed has to be replaced where it was issued.',
    wrong: 'secret: 5f0c1d2e9a77…',
    right: 'secretName: orders-hook',
  },
  'secret-value-suspected': {
    why:
      'The name has the length and the look of a random value. If it is one, replace it where it was ' +
      'issued, and name a secret instead; if it is a name, choose one that can be read aloud.',
    wrong: 'secretName: a81bc81b4e4bd2f0…',
    right: 'secretName: orders-hook',
  },
  'header-secret-host': {
    why:
      'The grant of a secret says to which hosts its value may go, and the MCP server is none of them: the run will ' +
      'be refused. Grant the host with "millwright secrets grant NAME --hosts HOST", or name another secret.',
  },
  'webhook-quota': {
    why:
      'Each webhook is an address that answers the internet. Several automations can share one; beyond ' +
      'that, use a second factory.',
  },
  'webhook-known': {
    why: 'A trigger on a webhook that is not declared never fires. Names are those of files: webhooks/<name>.yaml.',
    wrong: 'webhooks: [oders]',
    right: 'webhooks: [orders]',
  },
  'webhook-deleted': {
    why:
      'The UID belongs to a webhook that is gone. It is remembered, because a reverted deletion brings the ' +
      'same UID back.',
  },
  'environment-known': {
    why: 'A run whose environment does not exist fails at its start.',
    wrong: 'environmentId: pyton',
    right: 'environmentId: python',
  },
  'environment-near': {
    why:
      'Without a server it is not known which environments it has; but a name that is one letter off a ' +
      'declared one is mostly that.',
    wrong: 'environmentId: pyton',
    right: 'environmentId: python',
  },
  'model-known': {
    why:
      'The operator lists models (MILLWRIGHT_MODELS). Another one may be named, and is up to the harness; ' +
      'mostly it is misspelt.',
    wrong: 'model: claude-sonet-4',
    right: 'model: claude-sonnet-4',
  },
  'harness-known': {
    why: 'A run with a harness that the server does not have fails at its start.',
    wrong: 'harness: {type: claud-code}',
    right: 'harness: {type: claude-code}',
  },
  'model-missing': {
    why:
      'Without a configured model the built-in agent has the demo model alone. A run that names another fails at ' +
      'its start, so that nothing looks as if that had answered.',
    wrong: 'model: claude-sonnet-4',
    right: 'model: auto',
  },
  'harness-missing': {
    why: 'A run with an agent that is not installed on the machine of the service fails at its start.',
    wrong: 'harness: {type: codex}',
    right: 'harness: {type: oz}',
  },
  'repository-reached': {
    why:
      "The operator's list bounds what runs reach. The service fetches the repository all the same; the " +
      'run can neither fetch more of it nor push.',
  },
  'skill-known': {
    why: 'A skill is a folder of skills/, or owner/repo:skill-name.',
    wrong: 'skill: revew',
    right: 'skill: review',
  },
  'held-reference': {
    why:
      'The file itself is in order, and waits for another one that is not: mend that one. It is listed ' +
      'behind all files that are wrong themselves.',
  },
} as const satisfies Readonly<Record<string, RuleText>>;
