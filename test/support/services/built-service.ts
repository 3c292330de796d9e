/**
 * The service that suites boot, and its classes. A suite that asks a booted service for one of its parts by a class,
 * throws an error of a class at it, expects one of it, or replaces a method of a class, has to have the class from
 * here: what it imports of `apps` itself is another one.
 */
import { builtModule } from '../processes/built-modules.ts';

export const {
  createService,
  deriveUid,
  DiskWatch,
  EXAMPLE_COMMAND,
  FederatedCredentialStore,
  FenceLostError,
  IdSource,
  Log,
  readConfig,
  ScheduledJobs,
  serviceAccountOf,
  StoreError,
} = await builtModule('test/support/services/service-parts.js', () => import('./service-parts.ts'));
