/**
 * What an agent reports as its results while it works: noted, and stored when its execution has ended. contract §3.1
 * (artifacts).
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { ARTIFACTS_MAX, readReport, type ReportedArtifact } from '#runs';

/** Reports noted of one execution: more than are stored, for some of them may turn out not to be there. */
const REPORTS_MAX = 5 * ARTIFACTS_MAX;

/**
 * Reports of one execution. A call that was completed has them as `_meta.millwright.artifact`: that is the agent's own
 * word, which the output of a tool is not.
 */
export class AgentReports {
  private readonly reports = new Map<string, ReportedArtifact>();

  take(update: SessionUpdate): void {
    if (update.sessionUpdate !== 'tool_call_update' || update.status !== 'completed') return;
    const { _meta: more } = update;
    const { millwright } = (more ?? {}) as { millwright?: { artifact?: unknown } | null };
    const report = readReport(millwright?.artifact);
    if (report === undefined) return;
    const name = report.type === 'PULL_REQUEST' ? `link ${report.url}` : `file ${report.path}`;
    // A copy: a piece of a long text would hold all of it in memory.
    if (this.reports.has(name) || this.reports.size < REPORTS_MAX) this.reports.set(name, structuredClone(report));
  }

  /** In order of their first report; of what was reported again, the latest word. */
  all(): readonly ReportedArtifact[] {
    return [...this.reports.values()];
  }
}
