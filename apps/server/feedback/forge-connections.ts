/**
 * The forge of a factory with the credential that its source names: a token, or a GitHub App, whose tokens of an hour
 * are asked for here and held in memory alone. contract §9.9 (Feedback in pull requests).
 */
import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import { SignJWT } from 'jose';
import {
  appClaims,
  FORGE_DIALECTS,
  installationRequest,
  installationTokenRequest,
  isToBeRenewed,
  readInstallation,
  readInstallationToken,
  type AppInstallation,
  type ForgePlace,
  type InstallationToken,
} from '#reconcile';
import type { Config } from '../config/config.ts';
import { Clock, CONFIG } from '../process/injection-tokens.ts';
import { SecretReader } from '../secrets/secret-reader.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { Forge } from './forge.ts';
import { ForgeClient, ForgeError } from './forge-client.ts';

/** GitHub makes keys of so many bits; RS256 takes no shorter ones. */
const KEY_BITS_MIN = 2_048;

/** A token as long as the app, its key and the place are the same. */
interface HeldToken extends InstallationToken {
  madeWith: string;
}

/** Whom the app speaks for, and where. */
interface AppIdentity {
  app: string;
  /** PEM. */
  key: string;
  place: ForgePlace;
}

@Injectable()
export class ForgeConnections {
  /** By factory. */
  private readonly tokens = new Map<string, HeldToken>();

  constructor(
    private readonly secrets: SecretReader,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** Throws ForgeError where there is no credential, none for this host, or none that the forge takes. */
  async open(factory: Factory, place: ForgePlace, signal: AbortSignal): Promise<Forge> {
    const { forgeSecret: name = '', forgeApp: app } = factory.source;
    const released = await this.secrets.valueFor(factory.uid, name, { use: 'forge', url: place.api });
    if (!released.ok)
      throw new ForgeError(
        'denied',
        released.reason === 'host' ? released.message : `the secret ${name} has no value, or is not granted for forge`,
      );
    const text = Buffer.from(released.value).toString('utf8').trim();
    const token =
      typeof app === 'string' ? await this.appToken(factory.uid, { app, key: text, place }, name, signal) : text;
    if (!/^[\x21-\x7e]+$/.test(token)) throw new ForgeError('denied', `the secret ${name} is no token of a forge`);
    return new Forge(this.clientOf(place, token), FORGE_DIALECTS[place.forge], place.repository);
  }

  /** The forge took the credential no more: the next one is asked for anew. */
  forget(factoryUid: string): void {
    this.tokens.delete(factoryUid);
  }

  private async appToken(uid: string, identity: AppIdentity, secret: string, signal: AbortSignal): Promise<string> {
    const madeWith = digestOf(identity);
    const held = this.tokens.get(uid);
    if (held?.madeWith === madeWith && !isToBeRenewed(held, this.clock.nowMs())) return held.token;
    const made = await this.newToken(identity, secret, signal);
    this.tokens.set(uid, { ...made, madeWith });
    return made.token;
  }

  private async newToken(
    { app, key, place }: AppIdentity,
    secret: string,
    signal: AbortSignal,
  ): Promise<InstallationToken> {
    const claims = appClaims(app, this.clock.nowMs());
    const proof = await new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256' }).sign(privateKeyOf(key, secret));
    const client = this.clientOf(place, proof);
    const installation = await this.installationOf(client, { app, place }, signal);
    const { json } = await client.send(installationTokenRequest(installation, place.repository), signal);
    const made = readInstallationToken(json);
    if (made === undefined) throw new ForgeError('away', 'the forge answered no token of an installation');
    return made;
  }

  private async installationOf(
    client: ForgeClient,
    { app, place }: Pick<AppIdentity, 'app' | 'place'>,
    signal: AbortSignal,
  ): Promise<AppInstallation> {
    const { json } = await client.send(installationRequest(place.repository), signal).catch((error: unknown) => {
      if (error instanceof ForgeError && error.fault === 'missing')
        throw new ForgeError('denied', `the app ${app} is not installed for ${place.repository}, or no longer`);
      throw error;
    });
    const installation = readInstallation(json);
    if (installation === undefined) throw new ForgeError('away', 'the forge answered no installation of the app');
    if (installation.isSuspended)
      throw new ForgeError('denied', `the installation of the app ${app} for ${place.repository} is suspended`);
    return installation;
  }

  private clientOf(place: ForgePlace, token: string): ForgeClient {
    const { config, clock } = this;
    return new ForgeClient({
      api: place.api,
      headers: FORGE_DIALECTS[place.forge].headers(token),
      token,
      ca: config.gitCaFile === undefined ? undefined : readFileSync(config.gitCaFile, 'utf8'),
      allowLocal: config.allowLocalSources,
      nowMs: () => clock.nowMs(),
    });
  }
}

function digestOf({ app, key, place }: AppIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([app, key, place]))
    .digest('base64');
}

/** PKCS#1, as GitHub gives it out, or PKCS#8. Throws ForgeError, without a word of the key. */
function privateKeyOf(pem: string, secret: string): KeyObject {
  const key = readKey(pem);
  if (key?.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= KEY_BITS_MIN) return key;
  throw new ForgeError('denied', `the secret ${secret} is no private key of an app: PEM, RSA, ${KEY_BITS_MIN} bits`);
}

function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
