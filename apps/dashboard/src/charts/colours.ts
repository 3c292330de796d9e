/** The colours of what charts count. */

/** [light, dark]: told apart from each other and from the page with any kind of colour vision. */
export type Colors = readonly [light: string, dark: string];

export const OUTCOME_COLORS: Readonly<Record<string, Colors>> = {
  Accepted: ['#21a394', '#7ffeec'],
  Duplicate: ['#202826', '#9ca9b1'],
  'Rejected (auth)': ['#8c423d', '#cd4611'],
  'Rejected (invalid JSON)': ['#c77302', '#fdcc11'],
  'Rejected (too large)': ['#5f3fb7', '#9958da'],
  Throttled: ['#1252ff', '#4d778c'],
};
export const STATE_COLORS: Readonly<Record<string, Colors>> = {
  SUCCEEDED: ['#108976', '#b4faa8'],
  FAILED: ['#b33120', '#e6552c'],
  ERROR: ['#792351', '#a75d86'],
  CANCELLED: ['#292123', '#afac9e'],
  BLOCKED: ['#948c26', '#dbba3a'],
  INPROGRESS: ['#1451a1', '#85b9f4'],
  PENDING: ['#1c1188', '#868ad3'],
  CLAIMED: ['#0d9cc1', '#3cf0ff'],
  QUEUED: ['#8264ee', '#5f69eb'],
};
export const LATENCY_COLORS: Readonly<Record<string, Colors>> = {
  p50: ['#00265f', '#088206'],
  p90: ['#dd6d12', '#fbf97a'],
  p99: ['#8763ed', '#ac9bfc'],
};
