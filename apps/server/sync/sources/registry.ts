/** Every kind of source: one more is one more folder beside this file and its row here. */
import type { SourceSettings } from '#reconcile';
import { type FactorySource as SourceItem, membersOf } from '#contracts';
import type { MemberError } from '../../http/error-codes.ts';
import { dashboardKind } from './dashboard/dashboard-kind.ts';
import { directoryKind } from './directory/directory-kind.ts';
import { gitKind } from './git/git-kind.ts';
import type { SourceDeps, SourceKind, SourceOpener, SourceRepository } from './source.ts';

/** What the service asks of sources, whatever their kind. */
export interface SourceRegistry {
  /** The kind of a stored or a wanted source. Throws for one that is not known: a newer version stored it. */
  kindOf(source: { kind: string }): SourceKind;
  /** What no server would take of the source of a request, each by its pointer into the body. It may be anything. */
  requestErrors(source: unknown): MemberError[];
  toItem(source: SourceSettings): SourceItem;
  repositoryOf(source: SourceSettings): SourceRepository | undefined;
  opener(deps: SourceDeps): SourceOpener;
  /** Deletes what sources of any kind keep on disk of a factory. */
  forget(dataDir: string, factoryUid: string): Promise<void>;
}

/** The registry of these kinds. */
export function sourceRegistry(rows: readonly SourceKind[]): SourceRegistry {
  const kinds = new Map<unknown, SourceKind>(rows.map((row) => [row.kind, row]));
  const kindOf = ({ kind }: { kind: string }): SourceKind => {
    const found = kinds.get(kind);
    if (found === undefined) throw new Error(`there is no kind of source ${kind}`);
    return found;
  };
  return {
    kindOf,
    requestErrors: (source) => {
      const members = membersOf(source);
      const kind = kinds.get(members['kind']);
      // Whether local sources are allowed, the operator says.
      if (kind !== undefined) return kind.requestErrors(members, true);
      // Unknown kind: what any kind would refuse, but for the path, whose rules differ by kind.
      return rows.flatMap((row) => row.requestErrors({ ...members, path: undefined }, true));
    },
    toItem: (source) => kindOf(source).toItem(source),
    repositoryOf: (source) => kindOf(source).repositoryOf(source),
    opener: (deps) => {
      const openers = new Map(rows.map((row) => [row.kind, row.opener(deps)]));
      return (factory, isTrusted) => {
        const open = openers.get(kindOf(factory.source).kind);
        if (open === undefined) throw new Error(`no source of the kind ${factory.source.kind} can be opened`);
        return open(factory.source, factory, isTrusted);
      };
    },
    forget: async (dataDir, factoryUid) => {
      await Promise.all(rows.map((row) => row.forget(dataDir, factoryUid)));
    },
  };
}

/** The kinds that there are. */
export const SOURCES: SourceRegistry = sourceRegistry([gitKind, directoryKind, dashboardKind] as SourceKind[]);
