/** The door of `#reconcile`: identifiers, plans, the deletion guard and the pace of passes. */
export * from './types.ts';
export * from './uids.ts';
export * from './plan.ts';
export * from './guard.ts';
export * from './print.ts';
export * from './revision.ts';
export * from './pace.ts';
export * from './conditions.ts';
