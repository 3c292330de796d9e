/**
 * Puts a whole service together that never runs, before connections have to wait for the one that does: what is loaded
 * and compiled for the first time is loaded and compiled by then. contract §1.8 (Upgrades).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltInAgent } from './execution/agent/agents.ts';
import { createService } from './bootstrap.ts';
import type { Config } from './config/config.ts';
import { Log } from './process/log.ts';

/**
 * Over an empty database in a folder of its own; it listens nowhere and knows no key of the installation. What fails
 * here fails again, and is said, when the service begins.
 */
export async function rehearse(config: Config, builtInAgent: BuiltInAgent | undefined): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millwright-rehearsal-'));
  try {
    const service = await createService(alone(config, folder), { builtInAgent, log: SILENT });
    try {
      await service.serving?.refresh();
    } finally {
      await service.stop();
    }
  } catch {
    // The start says it.
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const SILENT = new Log(() => undefined, Date.now, 'error');

/** The same roles, and nothing that others use. */
function alone(config: Config, dataDir: string): Config {
  return {
    ...config,
    dataDir,
    engine: 'embedded',
    databaseUrl: undefined,
    databaseDirectUrl: undefined,
    redisUrl: undefined,
    masterKeyFile: undefined,
    uidKeyFile: undefined,
    adminKey: undefined,
    metricsListen: undefined,
    traces: undefined,
  };
}
