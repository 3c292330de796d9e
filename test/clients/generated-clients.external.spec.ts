/**
 * The document of the interface with what others make of it: checkers that people run in their pipelines, and clients
 * that openapi-generator writes. Run by test/clients/run.mjs, which brings the programs. contract §3.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startedRun } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { IS_PART } from '../support/tier.ts';

const PROGRAMS = process.env['MILLWRIGHT_TEST_CLIENT_TOOLS'];
if (PROGRAMS === undefined) throw new Error('node test/clients/run.mjs runs these tests: it brings the programs');
/** Undefined: there is no Java, no Maven or no Go on this machine. */
const GENERATOR = process.env['MILLWRIGHT_TEST_OPENAPI_GENERATOR'];
const SLOW_MS_MAX = 600_000;
const DOCUMENT = fileURLToPath(new URL('../../schemas/generated/openapi.json', import.meta.url));
const RUNS = 3;

/** Lists every run of the service, two a page. */
const LISTER_IN_GO = `package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"example.com/runs/client"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("MILLWRIGHT_BASE_URL") + "/api/v1"}}
	api := client.NewAPIClient(configuration)
	asked := context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("MILLWRIGHT_API_KEY"))
	pages := [][]string{}
	request := api.RunsAPI.ListRuns(asked).Limit(2)
	for {
		page, _, err := request.Execute()
		if err != nil {
			log.Fatal(err)
		}
		ids := []string{}
		for _, run := range page.Runs {
			one, _, err := api.RunsAPI.GetRun(asked, run.RunId).Execute()
			if err != nil {
				log.Fatal(err)
			}
			ids = append(ids, one.RunId)
		}
		pages = append(pages, ids)
		if !page.PageInfo.HasNextPage {
			break
		}
		request = request.Cursor(page.PageInfo.GetNextCursor())
	}
	json.NewEncoder(os.Stdout).Encode(pages)
}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-generated-clients-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  code: number | null;
  output: string;
}

function ended(program: string, args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', REDOCLY_TELEMETRY: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

describe('the document of the interface has nothing to warn of for', () => {
  it(
    'redocly',
    async () => {
      const { code, output } = await ended(join(PROGRAMS, 'redocly'), ['lint', '--format=json', DOCUMENT]);
      const said = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)) as Record<
        string,
        unknown
      >;
      expect({ code, problems: said['problems'] }).toEqual({ code: 0, problems: [] });
    },
    SLOW_MS_MAX,
  );

  it(
    'spectral',
    async () => {
      await writeFile(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
      const args = ['lint', '--ruleset', '.spectral.yaml', '--fail-severity=hint', '--format=json', DOCUMENT];
      const { code, output } = await ended(join(PROGRAMS, 'spectral'), args);
      expect({ code, problems: output.slice(output.indexOf('['), output.lastIndexOf(']') + 1) }).toEqual({
        code: 0,
        problems: '[]',
      });
    },
    SLOW_MS_MAX,
  );
});

(GENERATOR === undefined ? describe.skip : describe)('a client that openapi-generator writes', () => {
  let service: TestService;
  let environment: Record<string, string>;
  let runs: string[];

  beforeAll(async () => {
    service = await bootService();
    environment = { MILLWRIGHT_BASE_URL: service.url, MILLWRIGHT_API_KEY: service.adminKey };
    runs = [];
    for (let at = 0; at < RUNS; at += 1) runs.push(await startedRun(service, `echo ${at}`));
  }, SLOW_MS_MAX);
  afterAll(() => service?.stop());

  it(
    'in Go builds, and lists runs page by page',
    async () => {
      await generate('go', 'go/client', 'packageName=client,withGoMod=false');
      await put('go/go.mod', 'module example.com/runs\n\ngo 1.22\n');
      await put('go/main.go', LISTER_IN_GO);
      const lister = join(folder, 'lister');
      const go = (...args: string[]): Promise<Ended> => ended('go', ['-C', 'go', ...args], { GOFLAGS: '-mod=mod' });
      expect(await go('build', './client')).toEqual({ code: 0, output: '' });
      expect(await go('build', '-o', lister, '.')).toEqual({ code: 0, output: '' });
      const { code, output } = await ended(lister, [], environment);
      expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
      const pages = JSON.parse(output) as string[][];
      expect(pages.map(({ length }) => length)).toEqual([2, 1]);
      expect(pages.flat().sort()).toEqual(runs.toSorted());
    },
    SLOW_MS_MAX,
  );

  // What one compiler finds wrong, another mostly finds as well; Maven takes a minute.
  (IS_PART ? describe.skip : describe)('in Java', () => {
    it(
      'compiles',
      async () => {
        await generate('java', 'java', 'hideGenerationTimestamp=true');
        const maven = ['-q', '-B', '-f', 'java/pom.xml', '-Dmaven.test.skip=true', 'package'];
        const { code, output } = await ended('mvn', maven);
        expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
      },
      SLOW_MS_MAX,
    );
  });

  async function generate(language: string, into: string, properties: string): Promise<void> {
    const args = ['-jar', String(GENERATOR), 'generate', '-g', language, '-i', DOCUMENT, '-o', join(folder, into)];
    const { code, output } = await ended('java', [...args, `--additional-properties=${properties}`]);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  }

  async function put(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
});
