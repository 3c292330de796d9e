/** What the command line asks of the benchmark. */
import { parseArgs } from 'node:util';

export const BACKENDS = ['SQLite', 'PostgreSQL'] as const;

export type Backend = (typeof BACKENDS)[number];

/** A day. */
const SOAK_MINUTES_MAX = 1_440;
/** Above what any one process takes. */
const SOAK_RATE_MAX = 100_000;

export interface Options {
  quick: boolean;
  /** Names of stages; undefined: all. */
  only?: readonly string[];
  /** Databases that are measured. */
  backends: readonly Backend[];
  /** 0: none. */
  soakMinutes: number;
  /** Deliveries a second of the soak; undefined: a share of what the machine takes. */
  soakRate?: number;
  /** File for the report. */
  json?: string;
}

/** Undefined: it asks how to ask. Throws TypeError, with one line, where it asks for what there is not. */
export function readOptions(argv: readonly string[], stages: readonly string[]): Options | undefined {
  const {
    help,
    quick = false,
    only,
    database,
    soak = '0',
    'soak-rate': rate,
    json,
  } = parseArgs({
    args: [...argv],
    options: {
      help: { type: 'boolean', short: 'h' },
      quick: { type: 'boolean' },
      only: { type: 'string' },
      database: { type: 'string' },
      soak: { type: 'string' },
      'soak-rate': { type: 'string' },
      json: { type: 'string' },
    },
  }).values;
  if (help === true) return undefined;
  const names = only?.split(',');
  const unknown = names?.filter((name) => !stages.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new TypeError(`--only: there is no stage ${unknown.join(', ')}; there are ${stages.join(', ')}`);
  const backends = BACKENDS.filter((name) => database === undefined || name.toLowerCase() === database.toLowerCase());
  if (backends.length === 0) throw new TypeError(`--database: must be one of ${BACKENDS.join(', ')}`);
  const soakMinutes = Number(soak);
  if (!(soakMinutes >= 0 && soakMinutes <= SOAK_MINUTES_MAX))
    throw new TypeError(`--soak: must be minutes from 0 to ${SOAK_MINUTES_MAX}`);
  const soakRate = rate === undefined ? undefined : Number(rate);
  if (soakRate !== undefined && !(soakRate >= 1 && soakRate <= SOAK_RATE_MAX))
    throw new TypeError(`--soak-rate: must be deliveries a second from 1 to ${SOAK_RATE_MAX}`);
  return { quick, only: names, backends, soakMinutes, soakRate, json };
}

export function usageOf(stages: readonly string[]): string {
  return `usage: npm run bench [-- OPTION …]
  --quick           few and short rounds: shows that everything works, its figures are rough
  --only STAGE,…    of ${stages.join(', ')}; else all, soak only with --soak
  --database NAME   of ${BACKENDS.join(', ')}, in stages that measure each; else both
  --soak MINUTES    how long the soak takes on each database (0 to ${SOAK_MINUTES_MAX})
  --soak-rate N     its deliveries a second (1 to ${SOAK_RATE_MAX}); else a share of what the machine takes
  --json FILE       writes figures and aims there too
  --help            this
`;
}
