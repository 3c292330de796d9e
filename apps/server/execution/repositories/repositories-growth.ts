/**
 * A copy of a repository while it grows: measured every second, and ended from outside or when it is larger than it may
 * be. contract §8.1 (environments), §10.
 */
import { join } from 'node:path';
import { bytesBelow } from '../workspace/folder-trees.ts';

const MEASURE_MS = 1_000;
const MEGABYTE = 1_048_576;

export interface GrowthDeps {
  folder: string;
  /** Undefined: no bound. */
  bytesMax: number | undefined;
  /** Called after each measurement: whether there is room for more is somebody else's to know. */
  onMeasured(): void;
}

/** Ends what fills a copy by its signal; closed by whoever began it, once nothing half-done is left. */
export class Growth {
  bytes = 0;
  /** Why it was ended. */
  why: 'too-large' | 'disk-low' | undefined;
  /** Resolves when it is closed. */
  readonly closed: Promise<void>;
  private readonly deps: GrowthDeps;
  private readonly ender = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private noteClosed = (): void => undefined;

  constructor(deps: GrowthDeps) {
    this.deps = deps;
    this.closed = new Promise((resolve) => {
      this.noteClosed = resolve;
    });
    this.timer = setInterval(() => void this.measure().then(() => deps.onMeasured()), MEASURE_MS);
  }

  get signal(): AbortSignal {
    return this.ender.signal;
  }

  /** Packs, whole or half, are nearly all of a copy; few files, so that it costs little. */
  async measure(): Promise<void> {
    const { folder, bytesMax } = this.deps;
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

  /** For the owner of a run: why it was ended. */
  message(url: string): string {
    const size = `${Math.ceil(this.bytes / MEGABYTE)} MB`;
    const { bytesMax } = this.deps;
    const bound = bytesMax === undefined ? 'no bound' : `at most ${Math.floor(bytesMax / MEGABYTE)} MB`;
    if (this.why === 'too-large')
      return (
        `the repository ${url} is too large: ${size} of it had come; a repository may take ${bound} ` +
        '(MILLWRIGHT_RUN_DISK_MB). Name a smaller one, or ask the operator to raise the bound'
      );
    return (
      `the repository ${url} was not fetched to its end: the disk of the service was nearly full when ${size} of ` +
      `it had come (a repository may take ${bound}, MILLWRIGHT_RUN_DISK_MB). Start the run again when there is ` +
      'room'
    );
  }
}
