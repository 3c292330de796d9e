/** The JSON Schemas of request bodies as Standard Schemas: one file is validator, type and documentation. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  API_SCHEMAS,
  compileBounded,
  componentOf,
  isBodyOptional,
  isSmall,
  labelOf,
  refusesUnknownMembers,
  unknownMemberErrors,
  type RequestBodies,
  type RequestBody,
  type SchemaError,
  type Wording,
} from '#contracts';
import { memberHint } from '#definitions';
import type { MemberError } from './error-codes.ts';

/** Errors speak of the body of a request, which is JSON. */
const BODY_WORDING: Wording = { labelOf: (pointer) => labelOf(pointer, 'the body'), mapping: 'a JSON object' };

/** What a feature knows of a body beyond its schema. Both are handed bodies that may be anything. */
export interface BodyRules {
  /** Rules that a schema cannot state; messages are continued behind the member's name. */
  rules?: (body: unknown) => readonly MemberError[];
  /**
   * What the feature's service refuses for itself, together with what only it knows. Told here beside the schema's
   * errors, whose request no service sees; messages are whole sentences.
   */
  refusedLater?: (body: unknown) => readonly MemberError[];
}

/**
 * Adapts the JSON Schema of a request body, and what the feature adds to it: both are told together, and members that
 * neither knows, unless the body may have such. An issue's path is the JSON pointer of the offending member, as its
 * only element.
 */
export function bodySchema<Name extends keyof RequestBodies>(
  name: Name,
  { rules = noRules, refusedLater = noRules }: BodyRules = {},
): StandardSchemaV1<unknown, RequestBody<Name>> {
  const check = compileBounded<RequestBody<Name>>(componentOf(name), Object.values(API_SCHEMAS), BODY_WORDING);
  const isOptional = isBodyOptional(name);
  const isStrict = refusesUnknownMembers(name);
  return {
    '~standard': {
      version: 1,
      vendor: 'millwright',
      validate: (given) => {
        const value = given === undefined && isOptional ? {} : given;
        const checked = check(value);
        const errors = checked.ok ? [] : checked.errors.map(withHint);
        const isNamed = checked.ok || isSmall(value);
        const broken = (isNamed ? rules(value) : []).map(({ pointer, message }) => ({
          pointer,
          message: `${BODY_WORDING.labelOf(pointer)} ${message}`,
        }));
        const unknown = isStrict && isNamed ? unknownMemberErrors(name, value, BODY_WORDING).map(withHint) : [];
        const isRefused = !checked.ok || unknown.length > 0;
        const later = isRefused && isSmall(value) ? refusedLater(value) : [];
        // Who speaks first has said already what is wrong with a member: schema, then rules, then what nothing knows.
        const issues = unlessNamed(unlessNamed(errors, [...broken, ...later]), unknown).map(({ pointer, message }) => ({
          path: [pointer],
          message,
        }));
        return checked.ok && issues.length === 0 ? { value: checked.value } : { issues: firstOf(issues) };
      },
    },
  };
}

function noRules(): [] {
  return [];
}

/** A member that the schema does not know may be a mistyped one. */
function withHint(error: SchemaError): MemberError {
  return { pointer: error.pointer, message: `${error.message}${memberHint(error)}` };
}

/** The first list, and of the second what it does not name. */
function unlessNamed(first: readonly MemberError[], second: readonly MemberError[]): readonly MemberError[] {
  const named = new Set(first.map(({ pointer }) => pointer));
  return [...first, ...second.filter(({ pointer }) => !named.has(pointer))];
}

/** Faults that one answer names: more than a person mends in one go. */
const ISSUES_MAX = 100;

/** The first of them, and how many more there are. */
function firstOf(
  issues: readonly { path: string[]; message: string }[],
): readonly { path: string[]; message: string }[] {
  if (issues.length <= ISSUES_MAX) return issues;
  return [...issues.slice(0, ISSUES_MAX), { path: [''], message: `… and ${issues.length - ISSUES_MAX} more` }];
}
