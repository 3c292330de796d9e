/** Errors for people: their message is the whole sentence, without the protocol's own words before it. */
import { RequestError } from '@agentclientprotocol/sdk';

/** JSON-RPC's code for what goes wrong inside, and ACP's for missing or wrong credentials. */
const INTERNAL_ERROR = -32_603;
const AUTH_REQUIRED = -32_000;

/** What went wrong, for programs. `retryable`: the same may succeed later without anybody changing anything. */
export interface FailureData {
  kind:
    | 'configuration'
    | 'transcript'
    | 'credentials'
    | 'rate_limited'
    | 'not_found'
    | 'refused'
    | 'unavailable'
    | 'unreachable'
    | 'silent'
    | 'broken_off'
    | 'malformed'
    | 'failed';
  retryable: boolean;
  /** HTTP status of the model endpoint. */
  status?: number;
}

/** An error that ends a request. */
export function failure(text: string, data: FailureData): RequestError {
  return new RequestError(data.kind === 'credentials' ? AUTH_REQUIRED : INTERNAL_ERROR, text, data);
}
