/**
 * Requests to a forge and its answers, held against what its project publishes of its API (`published/`): the methods,
 * paths, parameters and bodies that are described, and the shapes of answers.
 */
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import type { ForgeKind } from '#reconcile';

interface PublishedOperation {
  method: string;
  /** With parameters in braces. */
  path: string;
  query: Readonly<Record<string, { type?: string; enum?: readonly string[] }>>;
  body?: object;
  /** Of success. */
  status: number;
  answer: object;
}

/** One request and what was answered. */
export interface ForgeExchange {
  method: string;
  /** Behind the base URL of the interface, with its query. */
  path: string;
  body?: unknown;
  status: number;
  answer: unknown;
}

interface Compiled extends PublishedOperation {
  pattern: RegExp;
  hasBody?: ValidateFunction;
  isAnswer: ValidateFunction;
}

const ajv = new Ajv({ strict: false });

const OPERATIONS: Readonly<Record<ForgeKind, readonly Compiled[]>> = {
  github: operationsOf('github'),
  gitlab: operationsOf('gitlab'),
  gitea: operationsOf('gitea'),
};

function operationsOf(kind: ForgeKind): Compiled[] {
  const text = readFileSync(new URL(`published/${kind}.json`, import.meta.url), 'utf8');
  const { operations } = JSON.parse(text) as { operations: Record<string, PublishedOperation> };
  return Object.values(operations).map((operation) => ({
    ...operation,
    pattern: new RegExp(`^${operation.path.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`),
    ...(operation.body && { hasBody: ajv.compile(closed(operation.body)) }),
    // Those of GitLab and Gitea say of no member that it may be null, and most may.
    isAnswer: ajv.compile(closed(kind === 'github' ? operation.answer : nullable(operation.answer))),
  }));
}

/** How the exchange departs from what is published; empty: it does not. */
export function departuresOf(kind: ForgeKind, exchange: ForgeExchange): string[] {
  const [path = '', query = ''] = exchange.path.split('?');
  const what = `${exchange.method} ${path}`;
  const operation = OPERATIONS[kind].find(({ method, pattern }) => method === exchange.method && pattern.test(path));
  if (operation === undefined) return [`${kind} has no ${what}`];
  const departures = [...new URLSearchParams(query)].flatMap(([name, value]) => {
    const { type, enum: values } = operation.query[name] ?? {};
    if (!Object.hasOwn(operation.query, name)) return [`parameter ${name} is not described`];
    const isRight = (values ?? [value]).includes(value) && (type !== 'integer' || /^\d+$/.test(value));
    return isRight ? [] : [`parameter ${name} is ${value}`];
  });
  if (operation.hasBody?.(exchange.body) === false)
    departures.push(`body: ${ajv.errorsText(operation.hasBody.errors)}`);
  if (operation.hasBody === undefined && exchange.body !== undefined) departures.push('it takes no body');
  if (exchange.status === operation.status && !operation.isAnswer(exchange.answer))
    departures.push(`answer: ${ajv.errorsText(operation.isAnswer.errors)}`);
  if (exchange.status !== operation.status && exchange.status < 400) departures.push(`status ${exchange.status}`);
  return departures.map((departure) => `${kind} ${what}: ${departure}`);
}

/** Members that are not described are none of a body or an answer; of what is nested only some are recorded. */
function closed(schema: object): object {
  const { items, properties } = schema as { items?: object; properties?: object };
  if (items !== undefined) return { ...schema, items: closed(items) };
  return properties === undefined ? schema : { ...schema, additionalProperties: false };
}

function nullable(schema: object): object {
  const { type, items, properties = {} } = schema as { type?: string; items?: object; properties?: object };
  const members = Object.entries(properties).map(([name, member]) => {
    const { type: kind, ...rest } = nullable(member as object) as { type?: string };
    return [name, { ...rest, ...(kind === undefined ? {} : { type: [kind, 'null'] }) }];
  });
  return {
    ...schema,
    type,
    ...(items === undefined ? {} : { items: nullable(items) }),
    ...(members.length === 0 ? {} : { properties: Object.fromEntries(members) }),
  };
}
