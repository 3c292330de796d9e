/** Runs a TypeScript program of the tests in a process of its own: what only another process can do, or survive. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { nodeArguments, REPOSITORY } from './node-arguments.ts';

export interface ChildProgram {
  process: ChildProcess;
  /** Lines of stdout so far. */
  lines: string[];
  /** Waits until so many lines have come; fails when the program ends before. */
  line(count: number): Promise<void>;
  /** Exit code or signal, when all its output has been read. */
  ended: Promise<number | string>;
  /** What it wrote to stderr. */
  errors(): string;
}

/**
 * Starts `program` (path below the repository) with arguments, as another user where one is named. End it, or await
 * `ended`.
 */
export function startProgram(program: string, args: readonly string[], uid?: number): ChildProgram {
  const child = spawn(process.execPath, [...nodeArguments(program), ...args], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const lines: string[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
  );
  let over = false;
  void ended.then(() => (over = true));
  return {
    process: child,
    lines,
    ended,
    errors: () => errors,
    async line(count) {
      while (lines.length < count) {
        if (over) throw new Error(`the program ended after ${lines.length} lines: ${errors}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}
