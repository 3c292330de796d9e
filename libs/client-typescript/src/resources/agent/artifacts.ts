/** `/agent/artifacts`: what runs have made. */
import type { APIPromise } from '../../answers.ts';
import type { ArtifactItem } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';
import { DOWNLOAD_TIMEOUT_MS } from '../limits.ts';

/** What runs have made: files, pull requests and the like. */
export class Artifacts extends Resource {
  /** Looks at an artifact. Role: viewer. Throws NotFoundError (404) also where the key may not see its run. */
  retrieve(artifactUid: string, options?: RequestOptions): APIPromise<ArtifactItem> {
    return this.client.call({
      method: 'GET',
      template: '/agent/artifacts/{artifact_uid}',
      path: { artifact_uid: artifactUid },
      answer: 'ArtifactItem',
      options,
    });
  }

  /**
   * Downloads an artifact: its bytes as the run left them. `asResponse()` gives the answer with its body unread, to
   * stream it. Ten minutes an attempt unless `timeout` says otherwise.
   * Role: viewer. Throws NotFoundError (404) for an artifact that is no file.
   */
  download(artifactUid: string, options?: RequestOptions): APIPromise<Uint8Array> {
    return this.client.call({
      method: 'GET',
      template: '/agent/artifacts/{artifact_uid}/download',
      path: { artifact_uid: artifactUid },
      answer: 'bytes',
      timeout: DOWNLOAD_TIMEOUT_MS,
      options,
    });
  }
}
