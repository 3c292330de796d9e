/**
 * What the HTTP interface can do, as data: one entry for each method and path. Documentation, query parsing and tests
 * all read it. contract §3, §4.
 */
import type { RequestBodies } from './generated/request-bodies.ts';
import { API_SCHEMAS, OPERATION_GROUPS } from './interface.ts';

/** A JSON Schema, or a reference to a component by its file name (`run-state.schema.json`). */
export type ParameterSchema = Readonly<Record<string, unknown>>;

export interface OperationParameter {
  name: string;
  /** `query` parameters are strings: arrays are repeated keys, objects are `name[key]=value`. */
  in: 'path' | 'query' | 'header';
  description: string;
  required?: boolean;
  schema: ParameterSchema;
}

export interface OperationAnswer {
  description: string;
  /** File name of a component below schemas/api, without `.schema.json`; absent: no body, or not JSON. */
  schema?: string;
  /** `application/json` by default. */
  contentType?: string;
  /** Types besides, where the request's Accept header chooses. */
  otherContentTypes?: readonly string[];
  /** Headers that the answer always carries, with what they say. */
  headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  /** camelCase, unique: what generated clients call it. */
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below the API base, parameters as `{snake_case}`. */
  path: string;
  /** Least role that may call it; absent: everybody, without a key. */
  role?: 'viewer' | 'operator' | 'manager' | 'admin';
  summary: string;
  description?: string;
  deprecated?: boolean;
  parameters?: readonly OperationParameter[];
  /** Component of the body, without `.schema.json`. */
  body?: string;
  /** True where an empty request is allowed although a body is described. */
  bodyOptional?: boolean;
  answers: Readonly<Record<string, OperationAnswer>>;
  /** Statuses of problems beyond those that every operation of its kind can have. */
  refusals?: readonly number[];
}

export interface OperationGroup {
  tag: string;
  description: string;
  operations: readonly Operation[];
}

/** Every group, in the order of the documentation. */
export const OPERATIONS: readonly OperationGroup[] = OPERATION_GROUPS as readonly OperationGroup[];

const byId = new Map(
  OPERATIONS.flatMap(({ operations }) => operations.map((operation) => [operation.id, operation] as const)),
);

/** The operation of an id; throws for one that is not declared. */
export function operationOf(id: string): Operation {
  const operation = byId.get(id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return operation;
}

/** Type of a request body: the one that is generated of its schema. */
export type RequestBody<Name extends keyof RequestBodies> = RequestBodies[Name];

/** Whether a request may come without the body that is described, which is then an empty object. */
export function isBodyOptional(name: string): boolean {
  return [...byId.values()].some(({ body, bodyOptional }) => body === name && bodyOptional === true);
}

/** Component of a file name below schemas/api, without `.schema.json`; throws for one that does not exist. */
export function componentOf(name: string): object {
  const schema = API_SCHEMAS[`${name}.schema.json`];
  if (schema === undefined) throw new Error(`there is no component ${name}`);
  return schema;
}
