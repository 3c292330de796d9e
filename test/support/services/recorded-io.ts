/** For tests: calls the command in this process with streams that are recorded. */
import { Readable, Writable } from 'node:stream';
import { main } from '../../../apps/cli/main.ts';

export interface Call {
  code: number;
  out: string;
  err: string;
}

export interface CallOptions {
  stdin?: string | Uint8Array;
  environment?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Stdin and stdout are terminals of this many columns. */
  terminalColumns?: number;
  /** Told everything on stdout so far, as it comes. */
  heard?: (out: string) => void;
}

/** Runs `millwright` with these arguments; answers exit code and output. */
export async function call(argv: readonly string[], options: CallOptions = {}): Promise<Call> {
  const texts = { out: '', err: '' };
  const terminal = options.terminalColumns === undefined ? {} : { isTTY: true, columns: options.terminalColumns };
  const into = (key: 'out' | 'err') =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          texts[key] += chunk.toString();
          if (key === 'out') options.heard?.(texts.out);
          done();
        },
      }),
      terminal,
    );
  const stdin = Object.assign(Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]), terminal);
  const code = await main([...argv], {
    stdin,
    stdout: into('out'),
    stderr: into('err'),
    cwd: options.cwd ?? '/',
    environment: options.environment ?? {},
  });
  return { code, ...texts };
}
