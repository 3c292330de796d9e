/**
 * Services of one installation on one PostgreSQL database, each in this process and with a data folder of its own:
 * replicas, as far as the database can tell.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { factoryFolder, type FactoryFolder, type FactoryTree } from '../factories/factory-folder.ts';
import { bootService, type BootOptions, type TestService } from './service.ts';

export const ADMIN_KEY = `mw_${'a'.repeat(43)}`;
export const TOKEN = 'bearer-token-of-the-tests';
/** Of a factory, at most. */
export const WEBHOOKS_EACH = 20;

export interface Installation {
  /** What every process of it has to be told, for those that are started otherwise. */
  environment: Readonly<Record<string, string>>;
  boot(environment?: Record<string, string>, options?: BootOptions): Promise<TestService>;
  /** Stops every service that still runs; the database is left. */
  close(): Promise<void>;
}

/** Prepares an installation on the database of `url`. */
export function installationOn(url: string, common: Record<string, string> = {}): Installation {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-installation-'));
  const keys = { MILLWRIGHT_MASTER_KEY_FILE: join(folder, 'master'), MILLWRIGHT_UID_KEY_FILE: join(folder, 'uid') };
  for (const file of Object.values(keys)) writeFileSync(file, '07'.repeat(32), { mode: 0o600 });
  const environment = {
    ...keys,
    MILLWRIGHT_DATABASE_URL: url,
    MILLWRIGHT_ADMIN_KEY: ADMIN_KEY,
    MILLWRIGHT_SYNC_INTERVAL: '3600',
    ...common,
  };
  const services: TestService[] = [];
  return {
    environment,
    async boot(own = {}, options = {}) {
      const service = await bootService({ ...options, environment: { ...environment, ...own } });
      services.push(service);
      return service;
    },
    async close() {
      for (const service of services) await service.stop().catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Many webhooks, so that no minute of one is full: `hook-0` … of each factory, with one automation for all of them. */
export async function manyWebhooks(): Promise<FactoryFolder> {
  return factoryFolder(treeOfMany());
}

function treeOfMany(): FactoryTree {
  const names = Array.from({ length: WEBHOOKS_EACH }, (_, index) => `hook-${index}`);
  return {
    webhooks: Object.fromEntries(names.map((name) => [name, { secretName: 'bearer' }])),
    automations: { act: { webhooks: names } },
  };
}

/** UIDs of the webhooks of factories that follow such a folder. */
export function uidsOfMany(service: TestService, factories: readonly string[]): string[] {
  return factories.flatMap((factory) =>
    Array.from({ length: WEBHOOKS_EACH }, (_, index) => service.webhookUid(factory, `hook-${index}`)),
  );
}
