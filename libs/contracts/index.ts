/** The door of the contracts: schema → validator and type of one name. */
export { compileSchema, validatorFor } from './validators.ts';
export type { Checked, SchemaCheck } from './validators.ts';
export type { SchemaError, SchemaErrorKind } from './errors.ts';
export { DEFINITION_SCHEMAS } from './registry.ts';
export type { DefinitionDocuments, DefinitionSchemaName } from './registry.ts';
export type { AutomationFrontMatter } from './generated/automation.ts';
export type { EnvironmentFile } from './generated/environment.ts';
export type { FactoryFile } from './generated/factory.ts';
export type { WebhookFile } from './generated/webhook.ts';
export { escapeSegment, labelOf, unescapeSegment } from './pointers.ts';
export { API_SCHEMAS } from './generated/registry.ts';
export { componentOf, operationOf, OPERATIONS } from './operations.ts';
export type { Operation, OperationAnswer, OperationGroup, OperationParameter } from './operations.ts';
export { readQuery } from './queries.ts';
export type { RawQuery } from './queries.ts';
