/** A connection for verbs that wait longer than a key of a token lasts. contract §2.4 (Exchange). */
import type { CliIo } from '../command.ts';
import { ANSWER_MS_MAX, connectWith, endpointOf, type Api } from './api.ts';

/** An exchanged key is exchanged anew so long before it ends: no call is on its way then. */
const RENEWED_MS = 2 * ANSWER_MS_MAX;

/**
 * The API of the server that options and environment name, asked for at each call: where the key is of a token, and the
 * build server gives out another one, that is exchanged before the key ends. Throws CommandError.
 */
export async function connectLasting(
  options: { server?: string; keyFile?: string },
  io: CliIo,
): Promise<() => Promise<Api>> {
  let endpoint = await endpointOf(options, io);
  let api = connectWith(endpoint);
  return async () => {
    const { endsAtMs = Number.POSITIVE_INFINITY } = endpoint.key;
    if (performance.now() < endsAtMs - RENEWED_MS) return api;
    endpoint = await endpointOf(options, io);
    return (api = connectWith(endpoint));
  };
}
