/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What created a run. This service produces API, CLI, WEB_APP, CUSTOM_WEBHOOK and SCHEDULED_AGENT; the other names are known from the hosted service and match no run here.
 */
export type RunSourceType =
  | 'API'
  | 'CLI'
  | 'WEB_APP'
  | 'CUSTOM_WEBHOOK'
  | 'SCHEDULED_AGENT'
  | 'LINEAR'
  | 'MCP'
  | 'SLACK'
  | 'TEAMS'
  | 'LOCAL'
  | 'GITHUB_ACTION'
  | 'CLOUD_MODE'
  | 'JIRA'
  | 'SELF_IMPROVEMENT'
  | 'GITHUB_WEBHOOK'
  | 'GITLAB_WEBHOOK'
  | 'AZURE_DEVOPS_WEBHOOK'
  | 'AUTOFIX'
  | 'RUN_SCORER'
  | 'ORCHESTRATION'
  | 'BENCHMARK_TRIAL'
  | 'CREATE_BENCHMARK_TASK';
