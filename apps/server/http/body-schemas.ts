/** The JSON Schemas of request bodies as Standard Schemas: one file is validator, type and documentation. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  API_SCHEMAS,
  compileBounded,
  componentOf,
  isBodyOptional,
  isSmall,
  labelOf,
  type RequestBodies,
  type RequestBody,
  type SchemaError,
  type Wording,
} from '#contracts';
import { didYouMean } from '#definitions';
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
 * Adapts the JSON Schema of a request body, and what the feature adds to it: both are told together. An issue's path is
 * the JSON pointer of the offending member, as its only element.
 */
export function bodySchema<Name extends keyof RequestBodies>(
  name: Name,
  { rules = noRules, refusedLater = noRules }: BodyRules = {},
): StandardSchemaV1<unknown, RequestBody<Name>> {
  const check = compileBounded<RequestBody<Name>>(componentOf(name), Object.values(API_SCHEMAS), BODY_WORDING);
  const isOptional = isBodyOptional(name);
  return {
    '~standard': {
      version: 1,
      vendor: 'millwright',
      validate: (given) => {
        const value = given === undefined && isOptional ? {} : given;
        const checked = check(value);
        const errors = checked.ok ? [] : checked.errors.map(withHint);
        const named = new Set(errors.map(({ pointer }) => pointer));
        const broken = (checked.ok || isSmall(value) ? rules(value) : []).map(({ pointer, message }) => ({
          pointer,
          message: `${BODY_WORDING.labelOf(pointer)} ${message}`,
        }));
        const later = !checked.ok && isSmall(value) ? refusedLater(value) : [];
        // The schema has said already what is wrong with a member that it names.
        const issues = [...errors, ...[...broken, ...later].filter(({ pointer }) => !named.has(pointer))].map(
          ({ pointer, message }) => ({ path: [pointer], message }),
        );
        return checked.ok && issues.length === 0 ? { value: checked.value } : { issues: firstOf(issues) };
      },
    },
  };
}

function noRules(): [] {
  return [];
}

/** A member that the schema does not know may be a mistyped one. */
function withHint({ pointer, kind, message, found, candidates = [] }: SchemaError): MemberError {
  return {
    pointer,
    message: kind === 'unknown-key' && found !== undefined ? `${message}${didYouMean(found, candidates)}` : message,
  };
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
