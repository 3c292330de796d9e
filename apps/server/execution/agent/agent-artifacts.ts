/** What an agent reports as its results while it works: noted, and kept when its execution has ended. contract 3 (artifacts). */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { ARTIFACTS_MAX, readReport, type ReportedArtifact } from '#runs';

export interface AgentReports {
  take(update: SessionUpdate): void;
  /** In order of their first report; of what was reported again, the latest word. */
  all(): readonly ReportedArtifact[];
}

/** Reports noted of one execution: more than are kept, for some of them may turn out not to be there. */
const REPORTS_MAX = 5 * ARTIFACTS_MAX;

/**
 * Reports of one execution. A call that was completed tells them as `_meta.millwright.artifact`: that is the agent's own word, which the
 * output of a tool is not.
 */
export function agentReports(): AgentReports {
  const reports = new Map<string, ReportedArtifact>();
  return {
    take: (update) => {
      if (update.sessionUpdate !== 'tool_call_update' || update.status !== 'completed') return;
      const { _meta: more } = update;
      const { millwright } = (more ?? {}) as { millwright?: { artifact?: unknown } | null };
      const report = readReport(millwright?.artifact);
      if (report === undefined) return;
      const name = report.type === 'PULL_REQUEST' ? `link ${report.url}` : `file ${report.path}`;
      // A copy: a piece of a long text keeps all of it in memory.
      if (reports.has(name) || reports.size < REPORTS_MAX) reports.set(name, structuredClone(report));
    },
    all: () => [...reports.values()],
  };
}
