/**
 * Knows the grammar and the limits of payload filters: raw JSON in, tests in written order and problems out. contract
 * §7.
 */
import type { Failure, Field, FieldTest, NestedTest } from './evaluate.ts';
import { isObject, isScalar, kindOf, pointerTo, type RawObject } from './json.ts';
import { lookAlikeWords } from './look-alikes.ts';
import { pathMeantBy } from './literal-paths.ts';
import { insteadOfForeign, operatorMeantBy } from './near-operators.ts';
import { isExactNumber, readSet } from './sets.ts';
import type { FilterOperator, FilterProblem, FilterRuleId } from './types.ts';

/**
 * Most field names on the way from the root to a leaf: deeper than the events of any known sender, and it bounds
 * recursion.
 */
export const DEPTH_MAX = 10;
/** Most fields that carry a condition: bounds the work per element of an array in the payload. */
export const LEAVES_MAX = 64;

/** What reading found so far. `leafCount` also counts refused fields, which bounds the number of problems. */
export interface Findings {
  problems: FilterProblem[];
  warnings: FilterProblem[];
  leafCount: number;
}

const OPERATORS: ReadonlySet<string> = new Set(['in', 'not_in', 'exists']);
const SHOWN_NAME_MAX = 40; // characters of a field name inside a message: a line stays readable

/**
 * Reads the filter's root object; its keys are field names whatever they are called. The result counts only without
 * problems.
 */
export function readRoot(filter: RawObject, findings: Findings): NestedTest {
  return { operator: 'nested', fields: readFields(filter, '', 1, findings), failure: failureOf('', 'nested') };
}

function readFields(fields: RawObject, pointer: string, depth: number, findings: Findings): Field[] {
  const read: Field[] = [];
  for (const name of Object.keys(fields)) {
    if (findings.leafCount > LEAVES_MAX) break; // reported already; what follows has no bound
    warnOfNearOperator(name, fields[name], pointerTo(pointer, name), { isAtRoot: depth === 1, findings });
    warnOfLiteralName(name, fields[name], pointerTo(pointer, name), findings);
    read.push({ name, tests: readField(name, fields[name], pointerTo(pointer, name), depth, findings) });
  }
  return read.slice(); // without the places that an array reserves while it grows: thousands of filters are kept
}

/** A field that is called nearly like an operator is none in most payloads: its filter would match nothing for ever. */
function warnOfNearOperator(
  name: string,
  value: unknown,
  pointer: string,
  { isAtRoot, findings }: { isAtRoot: boolean; findings: Findings },
): void {
  if (isScalar(value)) return; // refused, and told of there
  const isExact = isAtRoot && isOperator(name, value);
  const meant = operatorMeantBy(name, value);
  if (!isExact && meant === undefined) return;
  const explicit = `for a field of that name write {${shown(name)}: {"in": […]}}`;
  const message = isAtRoot
    ? `${shown(name)} is read as a field of the payload, for operators stand below a field; write {"field": ` +
      `{"${meant ?? name}": …}}, and ${explicit}`
    : `${shown(name)} is no operator${lookAlikeWords(name)}, so it is read as a field of the payload; did you mean ` +
      `${meant}? Else, ${explicit}`;
  const isSure = !isAtRoot && (meant !== 'exists' || typeof value === 'boolean');
  const problem: FilterProblem = { pointer, rule: 'filter-near-operator', message, isOfKey: true };
  findings.warnings.push(isSure && meant !== undefined ? { ...problem, meant } : problem);
}

/** A field that is called like an operator of another language, or by a path, is none in most payloads either. */
function warnOfLiteralName(name: string, value: unknown, pointer: string, findings: Findings): void {
  const instead = isScalar(value) ? undefined : insteadOfForeign(name, value);
  const explicit = `for a field of that name write {${shown(name)}: {"in": […]}}`;
  if (instead !== undefined) {
    const message = `${shown(name)} ${NO_OPERATOR}, so it is read as a field of the payload; ${instead}; ${explicit}`;
    findings.warnings.push({ pointer, rule: 'filter-near-operator', message, isOfKey: true });
  }
  const path = pathMeantBy(name, value);
  if (path === undefined) return;
  const nested = path.reduceRight((inner, part) => `{${shown(part)}: ${inner}}`, '…');
  const message = `${shown(name)} is read as the name of one field, not as a path; write ${nested}; else, ${explicit}`;
  findings.warnings.push({ pointer, rule: 'filter-literal-path', message, isOfKey: true });
}

const NO_OPERATOR = 'is no operator (in, not_in and exists are)';

function readField(name: string, value: unknown, pointer: string, depth: number, findings: Findings): FieldTest[] {
  if (isObject(value)) return readObject(value, pointer, depth, findings);
  countLeaf(pointer, findings);
  if (Array.isArray(value))
    return [{ operator: 'in', values: readSet('in', value, pointer, findings), failure: failureOf(pointer, 'in') }];
  if (isScalar(value)) findings.problems.push(bareScalar(name, value, pointer, depth));
  else
    findings.problems.push({
      pointer,
      rule: 'filter-bare-scalar',
      message: 'this is no JSON value; write an array of allowed values',
    });
  return [];
}

function readObject(object: RawObject, pointer: string, depth: number, findings: Findings): FieldTest[] {
  const names = Object.keys(object);
  if (names.length === 0) return refuseLeaf(pointer, 'filter-empty-nested', EMPTY_NESTED, findings);
  const operators = names.filter((name) => isOperator(name, object[name]));
  if (operators.length === names.length) return readOperators(object, operators, pointer, findings);
  if (operators.length > 0) return refuseMixture(object, operators, pointer, findings);
  if (depth >= DEPTH_MAX) return refuseLeaf(pointer, 'filter-too-deep', TOO_DEEP, findings);
  return [
    {
      operator: 'nested',
      fields: readFields(object, pointer, depth + 1, findings),
      failure: failureOf(pointer, 'nested'),
    },
  ];
}

function isOperator(name: string, value: unknown): boolean {
  if (!OPERATORS.has(name)) return false;
  return name === 'exists' ? typeof value === 'boolean' : Array.isArray(value);
}

function readOperators(
  object: RawObject,
  operators: readonly string[],
  pointer: string,
  findings: Findings,
): FieldTest[] {
  countLeaf(pointer, findings);
  refuseContradictions(object, pointer, findings);
  return operators.map((operator) => readOperator(operator, object[operator], pointer, findings));
}

function readOperator(operator: string, value: unknown, pointer: string, findings: Findings): FieldTest {
  if (typeof value === 'boolean') return { operator: 'exists', expected: value, failure: failureOf(pointer, 'exists') };
  const set = operator === 'in' ? 'in' : 'not_in';
  return {
    operator: set,
    values: readSet(set, value as unknown[], pointerTo(pointer, set), findings),
    failure: failureOf(pointer, set),
  };
}

/** Refuses conditions of one field that no payload can meet, where the author surely meant something else. */
function refuseContradictions(object: RawObject, pointer: string, findings: Findings): void {
  const allowed = Object.hasOwn(object, 'in') ? (object['in'] as unknown[]) : [];
  const refused = Object.hasOwn(object, 'not_in') ? (object['not_in'] as unknown[]) : [];
  const allowedScalars = new Set(allowed.filter((item) => isScalar(item)));
  const both = refused.findIndex((item) => isScalar(item) && isExactNumber(item) && allowedScalars.has(item));
  if (both >= 0) {
    const at = pointerTo(pointerTo(pointer, 'not_in'), both);
    const message = 'this value is also listed under in; list it on one side only';
    findings.problems.push({ pointer: at, rule: 'filter-in-and-not-in', message });
  }
  if (Object.hasOwn(object, 'exists') && object['exists'] === false && allowed.length > 0) {
    findings.problems.push({
      pointer: pointerTo(pointer, 'exists'),
      rule: 'filter-exists-false-with-in',
      message: 'a missing field equals no value, so exists: false and in cannot both hold; drop one of them',
    });
  }
}

function refuseMixture(
  object: RawObject,
  operators: readonly string[],
  pointer: string,
  findings: Findings,
): FieldTest[] {
  countLeaf(pointer, findings);
  const others = Object.keys(object).filter((name) => !operators.includes(name));
  for (const name of others.filter((other) => OPERATORS.has(other))) {
    const message = `${name} takes ${operandOf(name)}, found ${kindOf(object[name])}`;
    findings.problems.push({ pointer: pointerTo(pointer, name), rule: 'filter-operator-value', message });
  }
  const stranger = others.find((name) => !OPERATORS.has(name));
  if (stranger === undefined) return [];
  const misspelt = others.find((name) => operatorMeantBy(name, object[name]) !== undefined);
  if (misspelt !== undefined) {
    findings.problems.push(misspeltOperator(object, misspelt, operators, pointer));
    return [];
  }
  const message =
    `the operator ${operators.join(', ')} stands beside ${shown(stranger)}; write either operators (in, ` +
    'not_in, exists) or field names, ' +
    'and address a field called like an operator one level deeper: {"in": {"in": […]}}';
  findings.problems.push({ pointer, rule: 'filter-operators-mixed', message });
  return [];
}

function misspeltOperator(
  object: RawObject,
  name: string,
  operators: readonly string[],
  pointer: string,
): FilterProblem {
  const meant = operatorMeantBy(name, object[name]);
  const found = `${shown(name)} stands beside the operator ${operators.join(', ')} and is none itself`;
  const message = `${found}; did you mean ${meant}?`;
  const problem: FilterProblem = {
    pointer: pointerTo(pointer, name),
    rule: 'filter-operators-mixed',
    message,
    isOfKey: true,
  };
  return meant === undefined || Object.hasOwn(object, meant) ? problem : { ...problem, meant };
}

const EMPTY_NESTED =
  'an empty object says nothing about this field; write {"exists": true} to ask for its presence, or remove the key';
const TOO_DEEP = `fields nest deeper than ${DEPTH_MAX} levels; filter on a field nearer to the root`;

/** A boolean below what is nearly `exists` is in order: the name is not. */
function bareScalar(name: string, value: unknown, pointer: string, depth: number): FilterProblem {
  const problem: FilterProblem = {
    pointer,
    rule: 'filter-bare-scalar',
    message: bareScalarMessage(name, value, depth),
  };
  const meant = depth > 1 ? operatorMeantBy(name, value) : undefined;
  return meant === undefined ? problem : { ...problem, isOfKey: true, meant };
}

function bareScalarMessage(name: string, value: unknown, depth: number): string {
  const found = `found a bare ${kindOf(value)}`;
  const meant = depth > 1 ? (operatorMeantBy(name, value) ?? operatorMeantBy(name, [value])) : undefined;
  if (meant !== undefined)
    return `${found} below ${shown(name)}, which is no operator; did you mean ${meant}? It takes ${operandOf(meant)}`;
  const instead = insteadOfForeign(name, value);
  if (instead !== undefined) return `${found} below ${shown(name)}, which ${NO_OPERATOR}; ${instead}`;
  if (!OPERATORS.has(name)) return `${found}, expected an array of allowed values; wrap it in [ ]`;
  if (depth === 1)
    return (
      `${found}: at the root ${name} is a field name (operators stand below a field); for this field, wrap it in ` +
      '[ ]'
    );
  return (
    `${found}: the operator ${name} takes ${operandOf(name)}; ` +
    `${name === 'exists' ? 'for a field called exists, ' : ''}wrap it in [ ]`
  );
}

function operandOf(operator: string): string {
  return operator === 'exists' ? 'true or false' : 'an array';
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_NAME_MAX ? `${name.slice(0, SHOWN_NAME_MAX)}…` : name);
}

function refuseLeaf(pointer: string, rule: FilterRuleId, message: string, findings: Findings): FieldTest[] {
  countLeaf(pointer, findings);
  findings.problems.push({ pointer, rule, message });
  return [];
}

function countLeaf(pointer: string, findings: Findings): void {
  findings.leafCount += 1;
  if (findings.leafCount !== LEAVES_MAX + 1) return;
  const message = `more than ${LEAVES_MAX} fields carry a condition; split the automation, or filter on fewer fields`;
  findings.problems.push({ pointer, rule: 'filter-too-many-fields', message });
}

function failureOf(failedPointer: string, operator: FilterOperator): Failure {
  return Object.freeze({ passed: false, failedPointer, operator });
}
