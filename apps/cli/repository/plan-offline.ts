/** Plan of a branch from the files alone: the tree of its merge base against the folder. contract §9, §11. */
import {
  checkReferences,
  hasErrors,
  isDefinitionPath,
  readDefinitions,
  replayAdvice,
  type Definitions,
  type KnownFacts,
  type Problem,
  type TreeFile,
} from '#definitions';
import {
  changedValues,
  directoryRevision,
  judge,
  runSecretsOf,
  type Actual,
  type AppliedObject,
  type Change,
  type ChangedValue,
  type PrintableChange,
} from '#reconcile';
import { filesSince } from './changed-since.ts';
import type { PrintablePlan, UnplannedCheck } from '../reports/plan-report.ts';

/** Checks that need a server. */
const NEEDS_SERVER = ['traffic', 'replay', 'secret-changes', 'approvals'] as const satisfies readonly UnplannedCheck[];

/**
 * Stands for a UID while definitions are compared: the same object has the same one on both sides. It is never shown.
 */
const standIn = (kind: string, slug: string): string => `${kind}/${slug}`;
const KNOWN: KnownFacts = { webhookUidOf: (slug) => standIn('webhook', slug) };

export interface OfflinePlan {
  plan: PrintablePlan;
  /** Files of the commit that are in error themselves: what applies of it is not known. */
  brokenBefore: number;
}

/**
 * Compares the folder with the commit from which its branch and `reference` go apart. Throws CommandError where git
 * knows no such commit.
 */
export async function planSince(folder: string, reference: string, files: readonly TreeFile[]): Promise<OfflinePlan> {
  const before = await filesSince(folder, reference);
  const reading = readDefinitions(before);
  const isEmpty = before.length === 0;
  const known: KnownFacts = { ...KNOWN, today: new Date().toISOString().slice(0, 10) };
  const applied = checkReferences(reading, known);
  const actual: Actual = isEmpty
    ? { objects: [] }
    : { factory: applied.definitions.factory, objects: objectsOf(applied.definitions) };
  const revision = directoryRevision(files.filter(({ path }) => isDefinitionPath(path)));
  const { checked, planned, ending, growth } = judge(
    { revision, reading: readDefinitions(files) },
    {
      factorySlug: 'offline',
      appliedBefore: !isEmpty,
      actual,
      known,
      approvedDigests: new Set(),
      approvedElsewhere: true,
      uidOf: standIn,
    },
  );
  const count = (action: Change['action']): number =>
    planned.changes.filter((change) => change.action === action).length;
  return {
    brokenBefore: isEmpty ? 0 : applied.heldPaths.length,
    plan: {
      factory_uid: null,
      revision,
      valid: !hasErrors(checked.problems),
      ending: ending.kind as PrintablePlan['ending'],
      reason: ending.reason ?? null,
      message: ending.message ?? null,
      problems: checked.problems.map(toDiagnostic),
      advice: replayAdvice(checked.definitions.webhooks),
      changes: planned.changes.map((change) => ({
        ...withoutUid(change),
        ...valueItems(changedValues(change, checked.definitions, actual)),
        ...runSecretItems(runSecretsOf(checked.definitions, change)),
      })),
      growth: growth.map((each) => ({ ...each })),
      held: planned.heldDeletions.map(withoutUid),
      plan: null,
      summary: {
        create: count('create'),
        update: count('update'),
        delete: count('delete'),
        held: planned.heldDeletions.length,
      },
      not_run: [...checked.notRun, ...NEEDS_SERVER],
    },
  };
}

function objectsOf({ webhooks, automations, environments, skills }: Definitions): AppliedObject[] {
  return [
    ...webhooks.map((definition) => ({ kind: 'webhook' as const, ...placed('webhook', definition), definition })),
    ...automations.map((definition) => ({
      kind: 'automation' as const,
      ...placed('automation', definition),
      definition,
    })),
    ...environments.map((definition) => ({
      kind: 'environment' as const,
      ...placed('environment', definition),
      definition,
    })),
    ...skills.map((definition) => ({ kind: 'skill' as const, ...placed('skill', definition), definition })),
  ];
}

function placed(
  kind: string,
  { name, path }: { name: string; path: string },
): { uid: string; slug: string; path: string } {
  return { uid: standIn(kind, name), slug: name, path };
}

function valueItems(values: readonly ChangedValue[]): Pick<PrintableChange, 'values'> {
  return values.length === 0 ? {} : { values: values.map((value) => ({ ...value })) };
}

function runSecretItems(secrets: ReturnType<typeof runSecretsOf>): Pick<PrintableChange, 'run_secrets'> {
  return secrets === undefined ? {} : { run_secrets: secrets.map((secret) => ({ ...secret })) };
}

function withoutUid({ action, kind, slug, path, changes, renamedFrom }: Change): PrintableChange {
  return { action, kind, slug, uid: null, path, changes, renamed_from: renamedFrom };
}

function toDiagnostic({
  path,
  line,
  column,
  endLine,
  endColumn,
  severity,
  rule,
  code,
  message,
}: Problem): PrintablePlan['problems'][number] {
  return { path, line, column, end_line: endLine, end_column: endColumn, severity, rule, code, message };
}
