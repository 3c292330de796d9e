/** Of the service, what suites start it with and ask it by. Suites take it from `built-service.ts`. */
import 'reflect-metadata';

export { deriveUid } from '#reconcile';
export { createService } from '../../../apps/server/bootstrap.ts';
export { readConfig } from '../../../apps/server/config/config.ts';
export { EXAMPLE_COMMAND } from '../../../apps/server/execution/local/local-execution.ts';
export { serviceAccountOf } from '../../../apps/server/factories/factories.service.ts';
export { DiskWatch } from '../../../apps/server/process/disk-watch.ts';
export { IdSource } from '../../../apps/server/process/injection-tokens.ts';
export { Log } from '../../../apps/server/process/log.ts';
export { ScheduledJobs } from '../../../apps/server/scheduled-jobs.ts';
export { FederatedCredentialStore } from '../../../apps/server/store/access/federated-credentials.ts';
export { FenceLostError, StoreError } from '../../../apps/server/store/database/store-errors.ts';
