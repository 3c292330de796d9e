/**
 * What a run leaves to be kept: collected when its execution ends, whatever it has put there, and given out as bytes
 * that nobody renders. contract §2, §3.1 (artifacts), §10.
 */
import { makeKey } from '../support/services/api-keys.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, logOf, saidBy, SHELL, startedRun, wroteWord } from '../support/runs/runs.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const NOWHERE = '00000000-0000-7000-8000-000000000000';
let service: TestService;
let folder: FactoryFolder;
let ours: string;

beforeAll(async () => {
  service = await bootService({
    environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '4', MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  folder = await factoryFolder({});
  ours = await service.factory('ours', folder.source);
});

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

interface Artifact {
  artifact_uid: string;
  artifact_type: string;
  run_id: string;
  created_at: string;
  data: Record<string, unknown>;
}

/** Runs a script in the artifacts folder to its end; answers what was kept, by name. */
async function artifactsOf(
  script: string,
  more: Record<string, unknown> = {},
): Promise<{ runId: string; artifacts: Artifact[]; names: unknown[]; said: string }> {
  const runId = await startedRun(service, `cd "$MILLWRIGHT_ARTIFACTS"; ${script}`, more);
  const run = await runIn(service, runId, ...ENDED);
  const artifacts = (run['artifacts'] ?? []) as Artifact[];
  const said = (await logOf(service, runId))
    .filter(({ event_type: type }) => type === 'status')
    .map(({ payload }) => payload.text ?? '')
    .join('\n');
  return { runId, artifacts, names: artifacts.map(({ data }) => data['filename']), said };
}

const download = (uid: string, key = service.adminKey): Promise<Response> =>
  fetch(`${service.url}/api/v1/agent/artifacts/${uid}/download`, { headers: { authorization: `Bearer ${key}` } });

describe('files in the artifacts folder', () => {
  it('are kept, shown with their run, and given out byte for byte', async () => {
    const { runId, artifacts } = await artifactsOf(
      'printf "\\000\\001\\377" >raw.bin; echo "<script>" >page.html; cd ..; echo "# Done" >report.md; echo x ' +
        '>other.txt; exit 3',
    );
    expect(artifacts.map(({ data, ...artifact }) => ({ ...artifact, ...data }))).toEqual(
      [
        ['report.md', 'report.md', 'text/markdown', 7],
        ['page.html', 'artifacts/page.html', 'text/html', 9],
        ['raw.bin', 'artifacts/raw.bin', 'application/octet-stream', 3],
      ].map(([filename, filepath, type, size], at) => ({
        artifact_uid: artifacts[at]?.artifact_uid,
        artifact_type: 'FILE',
        run_id: runId,
        created_at: expect.any(String),
        filename,
        filepath,
        mime_type: type,
        content_type: type,
        size_bytes: size,
        download_url: `${service.url}/api/v1/agent/artifacts/${artifacts[at]?.artifact_uid}/download`,
      })),
    );
    for (const artifact of artifacts)
      expect((await service.api('GET', `/agent/artifacts/${artifact.artifact_uid}`)).body).toMatchObject(artifact);
    const raw = await download(String(artifacts[2]?.artifact_uid));
    expect(new Uint8Array(await raw.arrayBuffer())).toEqual(Uint8Array.from([0, 1, 255]));
  });

  it('are given out so that no browser renders or guesses them', async () => {
    const { artifacts } = await artifactsOf('echo "<script>alert(1)</script>" >page.html');
    const answer = await download(String(artifacts[0]?.artifact_uid));
    expect(await answer.text()).toContain('<script>');
    expect(
      Object.fromEntries(
        ['content-type', 'content-disposition', 'x-content-type-options', 'content-security-policy'].map((name) => [
          name,
          answer.headers.get(name),
        ]),
      ),
    ).toEqual({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="page.html"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    });
  });

  it('are kept of a run that is cancelled, and of one that fails', async () => {
    const runId = await startedRun(service, 'echo partial >artifacts/partial; echo begun; sleep 60');
    await wroteWord(service, runId, 'begun');
    await service.api('POST', `/agent/runs/${runId}/cancel`);
    const run = await runIn(service, runId, ...ENDED);
    expect(run['state']).toBe('CANCELLED');
    expect((run['artifacts'] as Artifact[]).map(({ data }) => data['filename'])).toEqual(['partial']);
  });

  it('are kept once: an execution that leaves them as they were adds nothing, a new version is added', async () => {
    const { runId } = await artifactsOf('echo same >same; echo one >changed');
    await service.api('POST', `/agent/runs/${runId}/followups`, {
      message: 'echo two >artifacts/changed; echo new >artifacts/new; echo again',
    });
    await wroteWord(service, runId, 'again');
    const run = await runIn(service, runId, 'SUCCEEDED');
    const artifacts = run['artifacts'] as Artifact[];
    expect(artifacts.map(({ data }) => data['filename'])).toEqual(['changed', 'same', 'changed', 'new']);
    const texts = await Promise.all(artifacts.map(async ({ artifact_uid: uid }) => (await download(uid)).text()));
    expect(texts).toEqual(['one\n', 'same\n', 'two\n', 'new\n']);
  });

  it('may be a plan or tell of a pull request', async () => {
    const { artifacts } = await artifactsOf(
      `printf '# Move it\\n' >plan.md; printf '{"url": "https://forge.example/acme/app/pull/7", "branch": ` +
        `"move"}' >pull-request.json`,
    );
    const [plan, pullRequest] = artifacts;
    expect(plan).toMatchObject({
      artifact_type: 'PLAN',
      data: { document_uid: plan?.artifact_uid, title: 'Move it', filename: 'plan.md' },
    });
    expect(pullRequest).toMatchObject({
      artifact_type: 'PULL_REQUEST',
      data: { url: 'https://forge.example/acme/app/pull/7', branch: 'move', status: 'unknown' },
    });
    expect(await (await download(String(plan?.artifact_uid))).text()).toBe('# Move it\n');
    expect((await download(String(pullRequest?.artifact_uid))).status).toBe(404);
  });
});

describe('what is no file of the run', () => {
  it('is not kept: links, pipes, folders, other names of files; the log says so', async () => {
    const { names, said } = await artifactsOf(
      'ln -s /etc/passwd link; ln -s ../prompt.md inside; mkfifo pipe; mkdir -p folder && echo x >folder/inner; ' +
        'echo x >twice; ln twice thrice; echo good >good; cd ..; ln -s /etc/passwd report.md',
    );
    expect(names).toEqual(['good']);
    for (const [name, why] of [
      ['artifacts/link', 'symbolic link'],
      ['artifacts/inside', 'symbolic link'],
      ['artifacts/pipe', 'no regular file'],
      ['artifacts/folder', 'no regular file'],
      ['artifacts/twice', 'hard link'],
      ['artifacts/thrice', 'hard link'],
      ['report.md', 'symbolic link'],
    ]) {
      expect(said).toMatch(new RegExp(`${String(name)} is not kept: it is (a |an )?${String(why)}`));
    }
  });

  it('is not kept through a link in the folder’s place', async () => {
    const { names } = await artifactsOf('cd ..; rmdir artifacts; ln -s /etc artifacts');
    expect(names).toEqual([]);
  });

  it('is not kept beyond its size and number', async () => {
    const large = await artifactsOf('head -c 10485760 /dev/zero >fits; head -c 10485761 /dev/zero >too-large');
    expect(large.names).toEqual(['fits']);
    expect(large.said).toContain('artifacts/too-large is not kept: it is larger than 10485760 bytes');
    const many = await artifactsOf('for n in $(seq 101 125); do echo $n >f$n; done');
    expect(many.names).toEqual(Array.from({ length: 20 }, (_, n) => `f${101 + n}`));
    expect(many.said).toContain('at most 20 files');
  });

  it.each([
    ['a "b".txt', 'a__b_.txt', 'quotes'],
    ['-rf', '-rf', 'an option'],
    ['..x', 'x', 'leading dots'],
    ['a$(id)b', 'a__id_b', 'a command'],
    ['ümlaut', '_mlaut', 'letters that headers cannot hold'],
  ])('has a name that harms nobody: %j is kept as %s', async (name, kept, why) => {
    expect(why).not.toBe('');
    const { artifacts } = await artifactsOf(`printf x >'./${name}'`);
    expect(artifacts.map(({ data }) => data['filename'])).toEqual([kept]);
    expect((await download(String(artifacts[0]?.artifact_uid))).headers.get('content-disposition')).toBe(
      `attachment; filename="${kept}"`,
    );
  });

  it('has a name that is no text, or holds a line break', async () => {
    const { names } = await artifactsOf(`printf x >"$(printf 'a\\377b')"; printf y >"$(printf 'c\\nd')"`);
    expect(names).toEqual(['a_b', 'c_d']);
  });
});

describe('a secret of the run', () => {
  const VALUE = 'artifact-secret-4711';

  it('is in no file that is kept, in no form, and not in a name', async () => {
    await service.api('PUT', '/secrets/DEPLOY_TOKEN', {
      value: VALUE,
      grants: { uses: ['run'], runs: '*', factories: [ours] },
    });
    const { names, said } = await artifactsOf(
      'echo "token: $DEPLOY_TOKEN" >plain; printf %s "$DEPLOY_TOKEN" | base64 >encoded; printf ' +
        '"\\377\\000%s\\377" "$DEPLOY_TOKEN" >binary; echo x >"$DEPLOY_TOKEN"; echo fine >fine',
      { factory_uid: ours, config: { secrets: [{ name: 'DEPLOY_TOKEN' }] } },
    );
    expect(names).toEqual(['fine']);
    expect(said).toContain('it holds a secret of the run');
    expect(said).not.toContain(VALUE);
    expect(service.logged.join('')).not.toContain(VALUE);
  });
});

describe('an artifact', () => {
  it('of a run that the key may not see is as one that does not exist', async () => {
    const limited = await makeKey(service, 'viewer', { factories: [ours] });
    const own = await artifactsOf('echo x >x', { factory_uid: ours });
    const foreign = await artifactsOf('echo x >x');
    const ask = async (uid: string, more = ''): Promise<ApiAnswer> => {
      if (more === '') return service.api('GET', `/agent/artifacts/${uid}`, undefined, limited);
      const answer = await download(uid, limited);
      return {
        status: answer.status,
        headers: answer.headers,
        body: answer.status === 200 ? {} : ((await answer.json()) as ApiAnswer['body']),
      };
    };
    expect((await ask(String(own.artifacts[0]?.artifact_uid))).status).toBe(200);
    expect((await ask(String(own.artifacts[0]?.artifact_uid), '/download')).status).toBe(200);
    for (const more of ['', '/download']) {
      const nowhere = await ask(NOWHERE, more);
      expect(nowhere.status).toBe(404);
      expect(saidBy(await ask(String(foreign.artifacts[0]?.artifact_uid), more))).toEqual(saidBy(nowhere));
    }
  });

  it.each([['nonsense'], ['..%2f..%2fetc%2fpasswd'], ['%00']])('called %s is 404', async (uid) => {
    expect((await service.api('GET', `/agent/artifacts/${uid}`)).status).toBe(404);
  });
});

it('the example command leaves a report that is kept', async () => {
  const plain = await bootService();
  const runId = await startedRun(plain, 'Say hello.');
  const run = await runIn(plain, runId, ...ENDED);
  const [report] = run['artifacts'] as Artifact[];
  expect(report?.data).toMatchObject({ filename: 'report.md', mime_type: 'text/markdown' });
  await plain.stop();
});
