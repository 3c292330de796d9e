/** What `millwright doctor` asks a service: whether it is ready, and what its factories name that no run can have. */
import { connectWith, findKey, type Api, type ApiKey } from '../../connection/api.ts';
import { all, PAGE_SIZE_MAX } from '../../connection/pages.ts';
import { exchange } from '../../connection/request.ts';
import { CommandError, type CliIo } from '../../command.ts';
import type { DoctorFinding } from '../../../server/doctor/findings.ts';

const ANSWER_MS_MAX = 10_000;
/** Factories that are asked; each is one request. */
const FACTORIES_MAX = 50;
/** Lines that are repeated of what passes said. */
const LINES_MAX = 20;

const UNAVAILABLE: ReadonlySet<string> = new Set(['harness-missing', 'model-missing']);

/** Whether it is ready, and knows the key. */
export async function askReadiness(base: URL, keyFile: string | undefined, io: CliIo): Promise<DoctorFinding[]> {
  const wayOut = 'start the service, or give --server and --key-file as they are';
  return asFindings('server', wayOut, async () => {
    const key = findKey(keyFile, base, io);
    const address = new URL(`${base.href.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/readyz`);
    const { status, text } = await exchange(
      address,
      { method: 'GET', headers: { accept: 'application/json', authorization: `Bearer ${key.value}` } },
      ANSWER_MS_MAX,
    );
    return [{ check: 'server', ...judged(status, text, key.origin) }];
  });
}

/** What its factories name and no run of it can have, as their last passes said. */
export async function askDefinitions(base: URL, keyFile: string | undefined, io: CliIo): Promise<DoctorFinding[]> {
  const wayOut = 'see millwright status, with a key that may read the factories';
  return asFindings('definitions', wayOut, () => definitionsOf({ base, key: findKey(keyFile, base, io) }));
}

async function definitionsOf(endpoint: { base: URL; key: ApiKey }): Promise<DoctorFinding[]> {
  const api = connectWith(endpoint);
  const factories = await all(api.factories.list({ limit: PAGE_SIZE_MAX }));
  const asked = factories.slice(0, FACTORIES_MAX);
  const missing: string[] = [];
  for (const { uid, slug } of asked) missing.push(...(await missingIn(api, uid)).map((line) => `${slug}: ${line}`));
  if (missing.length === 0) {
    const which = asked.length === factories.length ? '' : `the first ${asked.length} of `;
    const message = `${which}${factories.length} factories there name no harness or model that runs cannot have`;
    return [{ check: 'definitions', level: 'ok', message }];
  }
  const more = missing.length > LINES_MAX ? [`${missing.length - LINES_MAX} more of these`] : [];
  return [...missing.slice(0, LINES_MAX), ...more].map((message) => ({
    check: 'definitions',
    level: 'warning',
    message,
    wayOut: 'mend it before a run of it fails, or configure what it names',
  }));
}

async function missingIn(api: Api, factoryUid: string): Promise<string[]> {
  const { last_sync: pass } = await api.factories.status(factoryUid);
  return (pass?.problems ?? [])
    .filter(({ rule }) => UNAVAILABLE.has(rule))
    .map(({ path, line, message }) => `${path}:${line}: ${message}`);
}

/** What hinders it is a finding, too. */
async function asFindings(
  check: string,
  wayOut: string,
  ask: () => Promise<DoctorFinding[]>,
): Promise<DoctorFinding[]> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
    return [{ check, level: 'problem', message: cause.message, wayOut }];
  }
}

interface Ready {
  status?: string;
  reasons?: string[];
  /** Every process that lives on its database. */
  processes?: { name: string; roles: string[] }[];
}

function judged(status: number, text: string, keyOrigin: string): Omit<DoctorFinding, 'check'> {
  const { status: said, reasons, processes = [] } = readAnswer(text);
  if (said !== 'ready' && said !== 'not ready')
    return {
      level: 'problem',
      message: `what answers there (${status}) is no Millwright service`,
      wayOut: 'check --server',
    };
  if (reasons === undefined)
    return {
      level: 'problem',
      message: `the service is ${said}, but does not know the API key in ${keyOrigin}`,
      wayOut: 'give --key-file FILE with a key of that service',
    };
  if (said === 'not ready')
    return {
      level: 'problem',
      message: `the service is not ready: ${reasons.join(', ')}`,
      wayOut: 'look into its log',
    };
  if (reasons.length > 0)
    return {
      level: 'warning',
      message: `the service is ready, but not for everything: ${reasons.join(', ')}`,
      wayOut: 'look into its log',
    };
  const others =
    processes.length < 2
      ? ''
      : `; ${processes.length} processes share its ` +
        `database: ${processes.map(({ name, roles }) => `${name} (${roles.join(', ')})`).join('; ')}`;
  return { level: 'ok', message: `the service is ready and knows the API key${others}` };
}

function readAnswer(text: string): Ready {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
