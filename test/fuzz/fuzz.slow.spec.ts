/**
 * The API document against the service, by a fuzzer that knows neither: no fault, no undocumented answer, no bad input
 * accepted. Longer: `npm run fuzz`.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findFuzzer, fuzz } from './fuzzer.ts';
import { bootFuzzedService, type FuzzedService } from './seeds.ts';

/** Few, because the edges of the schemas alone are thousands of requests. `npm run fuzz` sends more. */
const EXAMPLES_MAX = Number(process.env['FUZZ_EXAMPLES'] ?? 2);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const TIMEOUT_MS = 1_500_000 + EXAMPLES_MAX * 60_000;
const DOCUMENT = fileURLToPath(new URL('../../schemas/generated/openapi.json', import.meta.url));

const fuzzer = findFuzzer();
const { python, program } = fuzzer.ok ? fuzzer : { python: '', program: '' };
const describeFuzzing = fuzzer.ok ? describe : describe.skip;

describeFuzzing(fuzzer.ok ? 'the API document' : `the API document (${fuzzer.reason})`, () => {
  let fuzzed: FuzzedService | undefined;
  afterAll(() => fuzzed?.stop());

  it('is valid OpenAPI 3.1', () => {
    const { stdout, stderr, status } = spawnSync(python, ['-m', 'openapi_spec_validator', DOCUMENT], {
      encoding: 'utf8',
    });
    expect({ status, text: stdout + stderr }).toEqual({ status: 0, text: expect.stringContaining('OK') });
  });

  it(
    `is what the service does, whatever it is asked (seed ${SEED})`,
    async () => {
      fuzzed = await bootFuzzedService();
      const { service, document } = fuzzed;
      const { held, report } = await fuzz(program, {
        document,
        url: `${service.url}/api/v1`,
        apiKey: service.adminKey,
        examplesMax: EXAMPLES_MAX,
        seed: SEED,
        isStateful: EXAMPLES_MAX > 2,
      });
      expect(held ? '' : report).toBe('');
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
      // A fuzzer that uses what it is answered finds its own key, and may revoke or rotate it.
      expect([200, 401]).toContain((await service.api('GET', '/agent/runs?limit=1')).status);
    },
    TIMEOUT_MS,
  );
});
