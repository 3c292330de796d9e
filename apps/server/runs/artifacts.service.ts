/** Artifacts over the API: what they are, and their bytes. contract 3 (artifacts). */
import { Inject, Injectable } from '@nestjs/common';
import type { ArtifactItem } from '#contracts';
import { maySee } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import type { Access } from '../store/access/access.ts';
import { type Artifact, ArtifactStore } from '../store/runs/run-files.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { toArtifactItem } from './runs.items.ts';

@Injectable()
export class ArtifactService {
  constructor(
    private readonly artifacts: ArtifactStore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async get(artifactUid: string, access: Access): Promise<ArtifactItem> {
    return toArtifactItem(await this.visible(artifactUid, access), this.config.publicUrl);
  }

  /** Name and bytes of an artifact that is a file; 404 for any other. */
  async file(artifactUid: string, access: Access): Promise<{ fileName: string; content: Uint8Array }> {
    const { details } = await this.visible(artifactUid, access);
    const content = await this.artifacts.content(artifactUid);
    if (details.fileName === undefined || content === undefined) throw notFound('a file of the artifact');
    return { fileName: details.fileName, content };
  }

  /** Whoever may see the run may see what it made. contract 2. */
  private async visible(artifactUid: string, access: Access): Promise<Artifact> {
    const artifact = await this.artifacts.find(artifactUid);
    if (artifact === undefined || !maySee(access, artifact.factoryUid)) throw notFound('the artifact');
    return artifact;
  }
}
