/** `/federated-credentials`: build servers without a stored key. */
import type { APIPromise } from '../answers.ts';
import type {
  FederatedCredential,
  FederatedCredentialCreate,
  FederatedCredentialList,
  FederatedCredentialPatch,
} from '../models.ts';
import type { RequestOptions } from '../options.ts';
import { Resource } from '../resource.ts';

/** Whose tokens are exchanged for keys that last ten minutes. */
export class FederatedCredentials extends Resource {
  /** Lists all federated credentials, newest first. Role: admin. */
  list(options?: RequestOptions): APIPromise<FederatedCredentialList> {
    return this.client.call({
      method: 'GET',
      template: '/federated-credentials',
      answer: 'FederatedCredentialList',
      options,
    });
  }

  /** Makes a federated credential. Role: admin. Throws ConflictError (409) where there are a hundred. */
  create(params: FederatedCredentialCreate, options?: RequestOptions): APIPromise<FederatedCredential> {
    return this.client.call({
      method: 'POST',
      template: '/federated-credentials',
      body: params,
      answer: 'FederatedCredential',
      options,
    });
  }

  /** Looks at a federated credential. Role: admin. */
  retrieve(federatedCredentialId: string, options?: RequestOptions): APIPromise<FederatedCredential> {
    return this.client.call({
      method: 'GET',
      template: '/federated-credentials/{federated_credential_id}',
      path: { federated_credential_id: federatedCredentialId },
      answer: 'FederatedCredential',
      options,
    });
  }

  /** Changes a federated credential; unless only its name changes, its keys end. Role: admin. */
  update(
    federatedCredentialId: string,
    params: FederatedCredentialPatch,
    options?: RequestOptions,
  ): APIPromise<FederatedCredential> {
    return this.client.call({
      method: 'PATCH',
      template: '/federated-credentials/{federated_credential_id}',
      path: { federated_credential_id: federatedCredentialId },
      body: params,
      answer: 'FederatedCredential',
      options,
    });
  }

  /** Deletes a federated credential; its keys end. Role: admin. */
  delete(federatedCredentialId: string, options?: RequestOptions): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/federated-credentials/{federated_credential_id}',
      path: { federated_credential_id: federatedCredentialId },
      answer: 'none',
      options,
    });
  }
}
