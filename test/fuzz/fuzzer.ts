/** The fuzzer: schemathesis in a virtual environment of its own, made once and kept. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Pinned, so that the same source is judged the same way; the second package knows the meta-schema of OpenAPI 3.1. */
const PACKAGES = ['schemathesis==4.32.5', 'openapi-spec-validator==0.9.0'];
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
const INSTALLED_WITHIN_MS = 300_000;

/** What every answer is held to. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
];

/** What a request that breaks its schema may be answered with: a refusal, whichever comes first. */
const REFUSALS = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 431];

/** What is said of the hosted service's operations that are not served here. contract §3.11. */
const NOT_SERVED = 501;

export type Fuzzer = { ok: true; python: string; program: string } | { ok: false; reason: string };

/**
 * Finds the fuzzer, or installs it; where Python or its packages are missing, says so. Blocks: to be called before
 * tests are declared.
 */
export function findFuzzer(): Fuzzer {
  const folder = join(CACHE, PACKAGES.join('+').replaceAll('==', '-'));
  const found = { ok: true, python: join(folder, 'bin/python'), program: join(folder, 'bin/schemathesis') } as const;
  const whole = join(folder, '.whole'); // a half-made environment must not be taken for a whole one
  if (existsSync(whole)) return found;
  if (spawnSync('python3', ['-c', 'import venv, ensurepip']).status !== 0)
    return { ok: false, reason: 'there is no python3 with venv on this machine' };
  process.stderr.write(`installing ${PACKAGES.join(' and ')} (once) …\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  if (spawnSync('python3', ['-m', 'venv', folder]).status !== 0)
    return { ok: false, reason: 'the virtual environment could not be made' };
  const { status } = spawnSync(
    found.python,
    ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES],
    { timeout: INSTALLED_WITHIN_MS, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) return { ok: false, reason: `${PACKAGES.join(' and ')} could not be installed` };
  writeFileSync(whole, '');
  return found;
}

export interface FuzzRun {
  /** The API document, with what the fuzzer may know of the service. */
  document: unknown;
  /** Base address of the API. */
  url: string;
  apiKey: string;
  /** Random requests of an operation; beside them it gets each value on the edge of its schema. */
  examplesMax: number;
  seed: number;
  /** Whether what one operation answers is used for requests to others. */
  isStateful: boolean;
}

/** Runs the fuzzer against a service; answers whether everything held, and its report. */
export async function fuzz(
  program: string,
  { document, url, apiKey, examplesMax, seed, isStateful }: FuzzRun,
): Promise<{ held: boolean; report: string }> {
  const box = await mkdtemp(join(tmpdir(), 'millwright-fuzz-'));
  try {
    await writeFile(join(box, 'openapi.json'), JSON.stringify(document));
    await writeFile(
      join(box, 'schemathesis.toml'),
      `[checks.negative_data_rejection]\nexpected-statuses = [${REFUSALS.join(', ')}]\n` +
        `[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", ${NOT_SERVED}]\n`,
    );
    return await run(program, box, [
      'run',
      join(box, 'openapi.json'),
      '--url',
      url,
      '--header',
      `Authorization: Bearer ${apiKey}`,
      '--checks',
      CHECKS.join(','),
      '--phases',
      `examples,coverage,fuzzing${isStateful ? ',stateful' : ''}`,
      '--max-examples',
      String(examplesMax),
      '--seed',
      String(seed),
      '--generation-database',
      'none',
      '--request-timeout',
      '60',
      '--continue-on-failure',
      '--no-color',
      '--warnings',
      'off',
    ]);
  } finally {
    await rm(box, { recursive: true, force: true });
  }
}

function run(program: string, cwd: string, args: readonly string[]): Promise<{ held: boolean; report: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: cwd, NO_PROXY: '127.0.0.1', PYTHONUTF8: '1' },
    });
    let report = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (report += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ held: code === 0, report }));
  });
}
