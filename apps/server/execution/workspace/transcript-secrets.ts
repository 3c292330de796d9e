/**
 * What has to be taken out of the transcripts of an execution, sealed beside them while it works: whoever finds them
 * after a crash can redact them, whatever became of the run and of its secrets. contract §10.2 (Execution and sandbox).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Vault } from '../../secrets/vault.ts';
import { removeEntry } from './folder-trees.ts';
import { redactTranscripts, removeTranscripts } from './transcript-redaction.ts';
import { writeInput, type Workspace } from './workspaces.ts';

type Place = Pick<Workspace, 'runId' | 'folder' | 'home'>;

/** The file as it is written: bytes in base64. */
interface SealedSecrets {
  epoch: number;
  wrappedKey: string;
  sealed: string;
}

export class TranscriptSecrets {
  private readonly vault: Vault;

  constructor(vault: Vault) {
    this.vault = vault;
  }

  /** Before anything of an execution runs; what an earlier one has left is redacted first. */
  async begin(workspace: Place & Pick<Workspace, 'epoch'>, secrets: readonly string[]): Promise<void> {
    await this.redactLeft(workspace);
    if (secrets.length === 0) return;
    const { runId, epoch } = workspace;
    const { wrappedKey, sealed } = this.vault.seal(Buffer.from(JSON.stringify(secrets)), nameOf(runId), epoch);
    const [key, text] = [wrappedKey, sealed].map((bytes) => Buffer.from(bytes).toString('base64'));
    await writeInput(fileOf(workspace), JSON.stringify({ epoch, wrappedKey: key, sealed: text }), 0o600);
  }

  /** When nothing of it runs any more. */
  async end(workspace: Place, secrets: readonly string[]): Promise<void> {
    await redactTranscripts(workspace, secrets);
    await removeEntry(fileOf(workspace));
  }

  /** Where an execution has not ended in order; nothing of it may run. Whether there was something to do. */
  async redactLeft(workspace: Place): Promise<boolean> {
    const text = await readFile(fileOf(workspace), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return false;
    const secrets = this.opened(text, workspace.runId);
    await (secrets === undefined ? removeTranscripts(workspace) : redactTranscripts(workspace, secrets));
    await removeEntry(fileOf(workspace));
    return true;
  }

  /** Undefined: torn, or sealed under another key; what it was about cannot stay then. */
  private opened(text: string, runId: string): string[] | undefined {
    try {
      const { epoch, wrappedKey, sealed } = JSON.parse(text) as SealedSecrets;
      const value = { wrappedKey: Buffer.from(wrappedKey, 'base64'), sealed: Buffer.from(sealed, 'base64') };
      return JSON.parse(Buffer.from(this.vault.open(value, nameOf(runId), epoch)).toString('utf8')) as string[];
    } catch {
      return undefined;
    }
  }
}

/** In the folder of the service, which no run reaches. */
function fileOf({ folder }: Place): string {
  return join(folder, 'transcript-secrets');
}

/** What the seal is bound to: no other row has such a name. */
function nameOf(runId: string): string {
  return `transcripts of run ${runId}`;
}
