/** What answers at a database URL, probed once at the start: can it be used, and is a pooler between. */
import type { StoreError } from '../store-errors.ts';
import {
  BoundedClient,
  CONNECT_MS_MAX,
  DIRECT_WIRE,
  ISOLATED_WIRE,
  POOLED_WIRE,
  USUAL_ISOLATION,
  type Wire,
} from './postgres-connections.ts';
import {
  POSTGRES_MAJOR_MIN,
  PostgresUnusableError,
  REFUSED_HERE,
  toConnectionError,
  type UrlVariable,
} from './postgres-refusals.ts';

export interface PostgresUrls {
  url: string;
  /** The same database without a pooler between; undefined: there is none, or none is said. */
  directUrl?: string;
}

/** How the database is reached. */
export interface Route {
  wire: Wire;
  /** For what needs a connection of its own: migrations, notifications. */
  directUrl: string;
  /** Whether a pooler stands there too: then nothing that belongs to a session lasts, LISTEN above all. */
  isPooled: boolean;
  /** What the operator should know: notifications do not come through, and what then happens. */
  remarks: readonly string[];
}

interface Found {
  server: number;
  /** Which backend answered: through a pooler another one than was greeted. */
  backend: number;
  read_only: string;
  /** What a transaction has that says nothing else. */
  isolation: string;
  /** The same for two connections exactly if they lead to the same database and schema of the same server. */
  place: string;
}

const QUESTION = `SELECT current_setting('server_version_num')::int AS server, pg_backend_pid() AS backend,
  current_setting('transaction_read_only') AS read_only, current_setting('transaction_isolation') AS isolation,
  concat_ws('/', extract(epoch FROM pg_postmaster_start_time()), (SELECT oid FROM pg_database
  WHERE datname = current_database()), current_schema()) AS place`;

/** What the operator should know where nothing leads around a pooler. */
export const NO_NOTICES =
  'a pooler stands between this service and PostgreSQL and MILLWRIGHT_DATABASE_DIRECT_URL does not lead around ' +
  'it: other processes are not told of changes, they look for them every second or so';

/** Looks at both URLs. Throws PostgresUnusable. */
export async function probePostgres({ url, directUrl }: PostgresUrls): Promise<Route> {
  const found = await probe(url, 'MILLWRIGHT_DATABASE_URL');
  const direct = directUrl === undefined ? found : await probe(directUrl, 'MILLWRIGHT_DATABASE_DIRECT_URL');
  if (directUrl !== undefined && direct.place !== found.place)
    throw new PostgresUnusableError(REFUSED_HERE.elsewhere, directUrl, 'MILLWRIGHT_DATABASE_DIRECT_URL');
  // Whoever names a direct URL says that the other one is not.
  const isPooled = directUrl !== undefined || found.isPooled;
  return {
    wire: isPooled ? POOLED_WIRE : found.isolation === USUAL_ISOLATION ? DIRECT_WIRE : ISOLATED_WIRE,
    directUrl: directUrl ?? url,
    isPooled: direct.isPooled,
    remarks: direct.isPooled ? [NO_NOTICES] : [],
  };
}

async function probe(
  url: string,
  variable: UrlVariable,
): Promise<{ isPooled: boolean } & Pick<Found, 'place' | 'isolation'>> {
  let client: BoundedClient | undefined;
  try {
    // reads the files that the URL names
    client = new BoundedClient({ connectionString: url, connectionTimeoutMillis: CONNECT_MS_MAX });
    await client.connect();
    const [answer] = (await client.query<Found>(QUESTION)).rows;
    const { server, backend, read_only: readOnly, isolation, place } = answer as Found;
    const refused = refusalOf(server, readOnly);
    if (refused !== undefined) throw refused;
    // A pooler greets with a number of its own, so that it can pass on who wants to cancel.
    return { isPooled: backend !== (client as unknown as { processID: number }).processID, isolation, place };
  } catch (error) {
    throw new PostgresUnusableError(toConnectionError(error), url, variable);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

function refusalOf(server: number, readOnly: string): StoreError | undefined {
  if (Math.floor(server / 10_000) < POSTGRES_MAJOR_MIN) return REFUSED_HERE.tooOld;
  return readOnly === 'on' ? REFUSED_HERE.readOnly : undefined;
}
