/** The door of `#reconcile`: identifiers, plans, the deletion guard, what becomes of a tree, and the pace of passes. */
export * from './types.ts';
export * from './uids.ts';
export * from './plan.ts';
export * from './guard.ts';
export * from './print.ts';
export * from './revision.ts';
export * from './pace.ts';
export * from './conditions.ts';
export * from './endings.ts';
export * from './judge.ts';
export * from './sync-policy.ts';
