/** `/agent/runs/{run_id}/permissions`: what agents ask permission for. */
import type { APIPromise } from '../../answers.ts';
import type { PermissionAnswer, PermissionItem, PermissionList } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';

/** What the agent of a run asks permission for, and the answers. */
export class RunPermissions extends Resource {
  /**
   * Lists what a run has asked permission for. Only runs that were created with `interactive` ask; they are BLOCKED
   * while a question is open. Role: viewer.
   */
  list(runId: string, options?: RequestOptions): APIPromise<PermissionList> {
    return this.client.call({
      method: 'GET',
      template: '/agent/runs/{run_id}/permissions',
      path: { run_id: runId },
      answer: 'PermissionList',
      options,
    });
  }

  /**
   * Answers a question; with the last open one answered the run goes on. Repeating an answer is no error. Role:
   * operator.
   * Throws BadRequestError (400) for an option that the agent does not offer, ConflictError (409) where there is
   * another answer, nobody waits for one any more, or a cancel is under way.
   */
  answer(
    runId: string,
    permissionId: string,
    params: PermissionAnswer,
    options?: RequestOptions,
  ): APIPromise<PermissionItem> {
    return this.client.call({
      method: 'POST',
      template: '/agent/runs/{run_id}/permissions/{permission_id}',
      path: { run_id: runId, permission_id: permissionId },
      body: params,
      answer: 'PermissionItem',
      options,
    });
  }
}
