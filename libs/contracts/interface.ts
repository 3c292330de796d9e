/** Every component and every operation of the HTTP interface, as the schemas have them. contract §3, §4. */
import generated from './generated/interface.json' with { type: 'json' };

/** Components by file name. */
export const API_SCHEMAS: Readonly<Record<string, object>> = generated.schemas;

export const OPERATION_GROUPS: readonly unknown[] = generated.operations;
