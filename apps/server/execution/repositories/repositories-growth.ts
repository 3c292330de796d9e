/** A copy of a repository while it grows: looked at every second, and ended from outside or when it is larger than it may be. contract 8 (environments), 10. */
import { join } from 'node:path';
import { bytesBelow } from '../workspace/folder-trees.ts';

const LOOK_MS = 1_000;
const MEGABYTE = 1_048_576;

export interface GrowthDeps {
  folder: string;
  /** Undefined: no bound. */
  bytesMax: number | undefined;
  /** Called at each look: whether there is room for more is somebody else's to know. */
  onLook(): void;
}

/** Ends what fills a copy by its signal; closed by whoever began it, once nothing half-done is left. */
export class Growth {
  bytes = 0;
  /** Why it was ended. */
  why: 'too-large' | 'disk-low' | undefined;
  /** Resolves when it is closed. */
  readonly closed: Promise<void>;
  private readonly parts: GrowthDeps;
  private readonly ender = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private noteClosed = (): void => undefined;

  constructor(parts: GrowthDeps) {
    this.parts = parts;
    this.closed = new Promise((resolve) => {
      this.noteClosed = resolve;
    });
    this.timer = setInterval(() => void this.look().then(() => parts.onLook()), LOOK_MS);
  }

  get signal(): AbortSignal {
    return this.ender.signal;
  }

  /** Packs, whole or half, are nearly all of a copy; few files, so that it costs little. */
  async look(): Promise<void> {
    const { folder, bytesMax } = this.parts;
    this.bytes = await bytesBelow(join(folder, 'objects', 'pack'));
    if (bytesMax !== undefined && this.bytes > bytesMax) this.end('too-large');
  }

  end(why: 'too-large' | 'disk-low'): void {
    this.why ??= why;
    this.ender.abort();
  }

  close(): void {
    clearInterval(this.timer);
    this.noteClosed();
  }

  /** What the owner of a run is told of its end. */
  words(url: string): string {
    const size = `${Math.ceil(this.bytes / MEGABYTE)} MB`;
    const { bytesMax } = this.parts;
    const bound = bytesMax === undefined ? 'no bound' : `at most ${Math.floor(bytesMax / MEGABYTE)} MB`;
    if (this.why === 'too-large')
      return `the repository ${url} is too large: ${size} of it had come; a repository may take ${bound} (MILLWRIGHT_RUN_DISK_MB). Name a smaller one, or ask the operator to raise the bound`;
    return `the repository ${url} was not fetched to its end: the disk of the service was nearly full when ${size} of it had come (a repository may take ${bound}, MILLWRIGHT_RUN_DISK_MB). Start the run again when there is room`;
  }
}
