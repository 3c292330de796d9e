/**
 * Opens secrets for the few places that need a value: git credentials and runs, and the marks by which plans tell
 * values apart. contract §12.1 (Plan).
 */
import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { mayBeInside, mayGiveToRun, type SecretNaming } from '#definitions';
import { mayReleaseSecret, releaseTargetOf } from '#isolation';
import type { SecretMark } from '#reconcile';
import { SecretStore, type SecretUsage } from '../store/secrets/secrets.ts';
import { Installation } from '../keys/installation.ts';
import { IdSource } from '../process/injection-tokens.ts';
import { bySystem } from '../store/access/audit.ts';
import { Vault } from './vault.ts';

@Injectable()
export class SecretReader {
  constructor(
    private readonly store: SecretStore,
    private readonly vault: Vault,
    private readonly ids: IdSource,
  ) {}

  /**
   * Newest value of a secret for one host. `missing`: there is no such secret, no value, or no grant. `host`: it is for
   * other hosts, which the message names. A secret without a host has this one from now on.
   */
  async valueFor(factoryUid: string, name: string, { use, url }: SecretTarget): Promise<ReleasedSecret> {
    const host = releaseTargetOf(url);
    if (host === undefined) return { ok: false, reason: 'missing' }; // a folder of this machine asks for none
    for (;;) {
      const secret = (await this.store.visibleTo(factoryUid, use)).get(name);
      if (secret === undefined || secret.version === 0) return { ok: false, reason: 'missing' };
      const verdict = mayReleaseSecret({ name, grant: secret.grants, host, use });
      if (!verdict.ok)
        return verdict.reason === 'use' ? { ok: false, reason: 'missing' } : { ...verdict, reason: 'host' };
      if (verdict.binds === undefined) {
        const value = await this.opened(secret.id);
        return value === undefined ? { ok: false, reason: 'missing' } : { ok: true, value };
      }
      await this.store.bindHost(secret, verdict.binds, bySystem(this.ids.newId()));
    }
  }

  /**
   * Newest value of a secret that this factory may use for this purpose; undefined when there is none, which looks the
   * same as "not granted".
   */
  async value(factoryUid: string, name: string, use: SecretUsage): Promise<Uint8Array | undefined> {
    const secret = (await this.store.visibleTo(factoryUid, use)).get(name);
    if (secret === undefined) return undefined;
    return this.opened(secret.id);
  }

  /**
   * Why a secret may not be added to requests of a run to a host (`host:port`); undefined: it may, and where that is
   * its first host, it is bound to it.
   */
  async injectionProblem(factoryUid: string, name: string, host: string): Promise<string | undefined> {
    for (;;) {
      const secret = (await this.store.visibleTo(factoryUid, 'run')).get(name);
      if (secret === undefined) return `the secret ${name} is not granted for runs`;
      const verdict = mayReleaseSecret({ name, grant: secret.grants, host, use: 'injection' });
      if (!verdict.ok) return verdict.message;
      if (verdict.binds === undefined) return undefined;
      await this.store.bindHost(secret, verdict.binds, bySystem(this.ids.newId()));
    }
  }

  /**
   * Newest values of the secrets of a run, by name. Missing: there is no such secret, no value, or no grant for this
   * run, which look the same. What a request names is not named by a file: without a grant for that, whoever may start
   * runs cannot read it.
   */
  async valuesForRun(run: SecretRun, names: readonly string[]): Promise<Map<string, Uint8Array>> {
    const values = new Map<string, Uint8Array>();
    if (names.length === 0) return values;
    const visible = await this.store.visibleTo(run.factoryUid, 'run');
    const { automation, factoryNames } = await this.store.runOrigin(run.factoryUid, run.automationUid);
    // What an automation does not say, its factory does; no request has a part in its runs.
    const isOfFiles = (name: string): boolean =>
      run.automationUid !== undefined ||
      factoryNames.includes(name) ||
      run.environment?.secretNames.includes(name) === true;
    for (const name of names) {
      const secret = visible.get(name);
      const naming: SecretNaming = {
        automation,
        environment: run.environment?.name,
        namedBy: isOfFiles(name) ? 'file' : 'request',
      };
      if (secret === undefined || !mayGiveToRun(secret.grants.runs, naming)) continue;
      const value = await this.opened(secret.id);
      if (value !== undefined) values.set(name, value);
    }
    return values;
  }

  /** Of some secrets of a factory those that a run may have inside whose words come from a request. */
  async givenToRequests(factoryUid: string, names: readonly string[]): Promise<Set<string>> {
    const visible = names.length === 0 ? undefined : await this.store.visibleTo(factoryUid, 'run');
    return new Set(
      names.filter((name) => {
        const secret = visible?.get(name);
        return secret !== undefined && mayBeInside(secret.grants.runs, 'request');
      }),
    );
  }

  private async opened(id: string): Promise<Uint8Array | undefined> {
    const newest = await this.store.newest(id);
    return newest && this.vault.open(newest, newest.secretId, newest.version);
  }
}

/** What a value is read for, and where it goes. */
export interface SecretTarget {
  use: 'git' | 'forge';
  url: string;
}

export type ReleasedSecret =
  | { ok: true; value: Uint8Array }
  | { ok: false; reason: 'missing' }
  | { ok: false; reason: 'host'; message: string };

/** A run that is to get secrets. */
export interface SecretRun {
  factoryUid: string;
  automationUid?: string;
  /** Its declared environment, and what that names. */
  environment?: { name: string; secretNames: readonly string[] };
}

/** Enough to tell the values of one factory apart, too few to be worth keeping. */
const HEX_DIGITS = 12;

@Injectable()
export class SecretFingerprints {
  constructor(
    private readonly store: SecretStore,
    private readonly vault: Vault,
    private readonly installation: Installation,
  ) {}

  /**
   * A mark for each of these names as a webhook of this factory may use it. Not set, not granted and not there look the
   * same: version 0.
   */
  async marks(factoryUid: string, names: readonly string[]): Promise<Map<string, SecretMark>> {
    const visible = names.length === 0 ? undefined : await this.store.visibleTo(factoryUid, 'webhook');
    const marks = new Map<string, SecretMark>();
    for (const name of new Set(names)) {
      const secret = visible?.get(name);
      const newest = secret === undefined ? undefined : await this.store.newest(secret.id);
      marks.set(
        name,
        newest === undefined
          ? { name, version: 0 }
          : { name, version: newest.version, fingerprint: this.fingerprint(factoryUid, newest) },
      );
    }
    return marks;
  }

  /**
   * Of one factory: marks of two factories do not tell that these share a value. Undefined for a value that was damaged
   * at rest.
   */
  private fingerprint(
    factoryUid: string,
    sealed: NonNullable<Awaited<ReturnType<SecretStore['newest']>>>,
  ): string | undefined {
    const value = this.opened(sealed);
    if (value === undefined) return undefined;
    return createHmac('sha256', this.installation.uidKey)
      .update(`millwright secret fingerprint 1\n${factoryUid}\n`)
      .update(value)
      .digest('hex')
      .slice(0, HEX_DIGITS);
  }

  private opened(sealed: NonNullable<Awaited<ReturnType<SecretStore['newest']>>>): Uint8Array | undefined {
    try {
      return this.vault.open(sealed, sealed.secretId, sealed.version);
    } catch {
      return undefined; // the serving state reports it, with the secret's ID
    }
  }
}
