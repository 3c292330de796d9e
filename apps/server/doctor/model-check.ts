/**
 * Whether the model of the built-in agent can be reached with its credentials. Asks for a list of models: that costs
 * nothing.
 */
import { HOW_TO_CONFIGURE_A_MODEL, modelChoice, type ModelEndpoint } from '#agents';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, warning, type Remark } from './findings.ts';

const ANSWER_MS_MAX = 8_000;
/** Bytes of a list of models; a longer one is not looked through. */
const LIST_BYTES_MAX = 4 * 1_048_576;

export async function model({ config: { agentEnvironment } }: Omit<DoctorTarget, 'sandbox'>): Promise<Remark[]> {
  const choice = modelChoice(agentEnvironment);
  switch (choice.kind) {
    case 'demo':
      return [
        warning(
          'no model is configured: the demo model answers, which only shows that everything works, and runs of the ' +
            'built-in agent that name another model fail',
          HOW_TO_CONFIGURE_A_MODEL,
        ),
      ];
    case 'wrong':
      return []; // the agent itself has said so
    case 'endpoint':
      return [await asked(choice.endpoint)];
  }
}

async function asked(endpoint: ModelEndpoint): Promise<Remark> {
  const { baseUrl, modelId, key } = endpoint;
  const { origin } = new URL(baseUrl);
  try {
    const answer = await fetch(`${baseUrl}/models`, {
      headers: credentials(endpoint),
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const { status } = answer;
    if (status === 401 || status === 403) {
      return problem(
        `${origin} refuses ${key === undefined ? 'requests without credentials' : 'the credentials'} (${status})`,
        'set MILLWRIGHT_AGENT_API_KEY to a key of this endpoint',
      );
    }
    if (status >= 300 && status < 400)
      return problem(
        `${origin} answers with a redirect, which the agent does not follow`,
        'set MILLWRIGHT_AGENT_BASE_URL to the address it leads to',
      );
    if (status === 429)
      return warning(`${origin} is reached, but has had too many requests`, 'wait, or raise the limit at the provider');
    if (status >= 500)
      return problem(`${origin} is reached, but fails (${status})`, 'look after that service, or ask its operator');
    if (status !== 200)
      return ok(
        `${origin} is reached; it does not list its models (${status}), so whether it has the configured one ` +
          'shows the first run',
      );
    return (await lists(answer, modelId)) === false
      ? warning(`${origin} is reached, but does not list the model of MILLWRIGHT_AGENT_MODEL`, 'name one that it has')
      : ok(`${origin} is reached and takes the credentials`);
  } catch (error) {
    return problem(
      `${origin} cannot be reached (${reasonOf(error)})`,
      'check MILLWRIGHT_AGENT_BASE_URL, and that this machine gets there',
    );
  }
}

function credentials({ provider, key }: ModelEndpoint): Record<string, string> {
  if (provider === 'anthropic') return { 'anthropic-version': '2023-06-01', 'x-api-key': key ?? '' };
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

/**
 * Undefined: the answer is no list that we can read. Lists in pages may leave a model out, so that those count as
 * unknown.
 */
async function lists(answer: Response, modelId: string): Promise<boolean | undefined> {
  const text = await bounded(answer);
  try {
    const { data, has_more: hasMore } = JSON.parse(text ?? '') as { data?: unknown; has_more?: unknown };
    if (!Array.isArray(data) || data.length === 0) return undefined;
    const isListed = data.some((entry: { id?: unknown } | null) => entry?.id === modelId);
    return isListed || hasMore !== true ? isListed : undefined;
  } catch {
    return undefined;
  }
}

async function bounded({ body }: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > LIST_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The code of what went wrong; a message may hold the address with all it carries. */
function reasonOf(error: unknown): string {
  if ((error as { name?: unknown }).name === 'TimeoutError') return `no answer within ${ANSWER_MS_MAX / 1_000} s`;
  const code = (error as { cause?: { code?: unknown } }).cause?.code;
  return typeof code === 'string' ? code : 'unknown reason';
}
