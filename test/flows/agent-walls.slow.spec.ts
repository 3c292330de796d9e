/**
 * What an agent cannot do, tried by one: read the data folder, reach the service, private or metadata addresses, or
 * another run's folders. contract §10.
 */
import { join, relative } from 'node:path';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { INSTALLATION_FOLDER } from '../../apps/server/execution/sandbox/installation-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { deliver, runIn } from '../support/factories/factory-files.ts';
import { sandboxHere } from '../support/agents/sandboxed-command.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';
import { programFiles } from '../support/processes/node-arguments.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const SECRET_OF_THE_OTHER = 'nobody-but-the-first-run-wrote-this';

const usable = (await sandboxHere('bubblewrap')) ?? (await sandboxHere('pid-namespace'));
if (usable?.guarantees.files !== true)
  console.warn('SKIPPED: the walls around an agent: no sandbox of this machine has them');

/** Tries things by the agent's own tools; each line of what it prints says what came of one. */
const tried = (commands: readonly string[]): string => {
  const steps = [...commands.map((command) => ({ tool: 'bash', input: { command } })), { say: 'tried' }];
  return `Try it.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;
};

/** Connects without any proxy, and through the one that the run has. */
const reach = (host: string, port: number): string => {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/healthz`;
  return (
    `node -e "fetch('${url}').then((a) => console.log('REACHED', a.status), () => console.log('no way'))"; curl ` +
    `-sS -m 5 -o /dev/null -w 'proxy %{http_code}\\n' ${url} || true`
  );
};

(usable?.guarantees.files === true ? describe : describe.skip)('an agent', () => {
  let mill: TestService;
  let folder: FactoryFolder;
  beforeAll(async () => {
    mill = await bootService({
      environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'true', MILLWRIGHT_RUN_NETWORK: 'open', MILLWRIGHT_RUN_COMMAND: '' },
    });
    await mill.secret('bearer', TOKEN);
  });
  afterAll(async () => {
    await mill.stop();
    await folder?.remove();
  });

  const outputs = async (runId: string): Promise<string[]> => {
    await runIn(mill, runId, 'SUCCEEDED', 'FAILED', 'ERROR');
    const { body } = await mill.api('GET', `/agent/runs/${runId}/events?limit=1000`);
    const events = body['events'] as { event_type: string; payload: { status?: string; output?: string } }[];
    return events
      .filter(({ event_type: type, payload }) => type === 'tool_call_update' && payload.output !== undefined)
      .map(({ payload }) => payload.output ?? '');
  };
  const made = async (commands: readonly string[]): Promise<{ runId: string; outputs: string[] }> => {
    const { body } = await mill.api('POST', '/agent/runs', { prompt: tried(commands) });
    const runId = String(body['run_id']);
    return { runId, outputs: await outputs(runId) };
  };

  it('reads and writes its own folders only: not the data folder, not another run’s, not the machine’s', async () => {
    const first = await made([
      `echo ${SECRET_OF_THE_OTHER} > mine; echo ${SECRET_OF_THE_OTHER} > "$HOME/mine"; chmod -R a+rwX . ` +
        '"$HOME"; echo written',
    ]);
    expect(first.outputs.join('\n')).toContain('written');
    expect(await readFile(join(mill.dataDir, 'runs', first.runId, 'workspace', 'mine'), 'utf8')).toContain(
      SECRET_OF_THE_OTHER,
    );
    const { outputs: second, runId } = await made([
      `cat ${mill.dataDir}/master-key ${mill.dataDir}/admin-key ${mill.dataDir}/*.sqlite* && echo READ`,
      `ls -la ${mill.dataDir} ${mill.dataDir}/runs && echo LISTED`,
      `cat ${mill.dataDir}/runs/${first.runId}/workspace/mine ${mill.dataDir}/runs/${first.runId}/home/mine && ` +
        'echo READ',
      `ls /proc | grep -c '^[0-9]' ; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -i ` +
        `'MILLWRIGHT_ADMIN\\|MASTER' && echo READ`,
      'echo x > /etc/made && echo WROTE; echo x > /usr/made && echo WROTE; mkdir /made && echo WROTE',
      `cd ${INSTALLATION_FOLDER}; ls -A | tr '\\n' ' '; cat .git .git/config .env && echo READ`,
      'cat /etc/shadow && echo READ; cat /root/.bashrc && echo READ; ls /home /root /var/lib && echo LISTED',
      'mount -t tmpfs none /mnt && echo MOUNTED; unshare -Ur true && echo UNSHARED || true',
    ]);
    const all = second.join('\n');
    expect(all.length).toBeGreaterThan(50);
    for (const word of ['READ', 'WROTE', 'MOUNTED', SECRET_OF_THE_OTHER]) expect(all).not.toContain(word);
    // Of the installation the parts of the agent, whichever it is started from here.
    const parts = programFiles().map((path) => relative(INSTALLATION_FOLDER, path).split('/')[0]);
    expect(all).toContain(`${[...new Set(parts)].sort().join(' ')} `);
    // The other run's folder is not even visible: only its own is.
    expect(all).not.toMatch(new RegExp(`^${first.runId}$`, 'm'));
    expect(runId).not.toBe(first.runId);
  }, 120_000);

  it(
    'reaches neither the service, nor private, link-local or metadata addresses, even where every public one is ' +
      'open',
    async () => {
      const port = mill.service.config.port;
      const targets: [host: string, port: number][] = [
        ['127.0.0.1', port],
        ['localhost', port],
        ['::1', port],
        ['0.0.0.0', port],
        ['169.254.169.254', 80],
        ['10.0.0.1', 80],
        ['192.168.0.1', 80],
        ['fd00::1', 80],
        ['metadata.google.internal', 80],
      ];
      const { outputs: told } = await made(targets.map(([host, at]) => reach(host, at)));
      expect(told).toHaveLength(targets.length);
      for (const [index, output] of told.entries()) {
        expect([targets[index], output]).toEqual([targets[index], expect.not.stringContaining('REACHED 200')]);
        expect([targets[index], output]).toEqual([targets[index], expect.not.stringContaining('proxy 200')]);
      }
    },
    120_000,
  );

  it(
    'makes the service write nowhere: links in the place of its folders are not followed, before it starts and ' +
      'while it works',
    async () => {
      const outside = await mkdtemp(join(tmpdir(), 'millwright-victim-'));
      await writeFile(join(outside, 'victim.txt'), 'of the service');
      const file = (text: string): object => ({
        file_name: 'victim.txt',
        mime_type: 'text/plain',
        data: Buffer.from(text).toString('base64'),
      });
      folder = await factoryFolder({});
      await folder.writeFile(
        'environments/evil.yaml',
        `setupCommands: ["mv attachments away || rm -rf attachments; ln -sfn ${outside} attachments; true"]\n`,
      );
      const uid = await mill.factory('evil', folder.source);
      const prompt = tried([
        `mv attachments gone; ln -sfn ${outside} attachments; ls -l; cat attachments/victim.txt; sleep 3`,
      ]);
      const { body } = await mill.api('POST', '/agent/runs', {
        prompt,
        factory_uid: uid,
        config: { environment_id: 'evil' },
        attachments: [file('first')],
      });
      const runId = String(body['run_id']);
      await eventually(
        'it works',
        async () => ((await mill.api('GET', `/agent/runs/${runId}`)).body['state'] === 'INPROGRESS' ? true : undefined),
        60_000,
      );
      expect(
        (
          await mill.api('POST', `/agent/runs/${runId}/followups`, {
            message: tried(['cat attachments/*']),
            attachments: [file('second')],
          })
        ).status,
      ).toBe(200);
      const told = (await outputs(runId)).join('\n');
      expect(told).toMatch(/first[\s\S]*second/);
      expect(await readFile(join(outside, 'victim.txt'), 'utf8')).toBe('of the service');
      expect(await readdir(outside)).toEqual(['victim.txt']);
      await folder.remove();
      await rm(outside, { recursive: true });
    },
    120_000,
  );

  it('that a delivery started reaches nothing at all, and its payload is read-only', async () => {
    const commands = [
      reach('127.0.0.1', mill.service.config.port),
      reach('192.0.2.1', 80),
      'for way in "sh -c \'echo x >> event-payload.json\'" "rm -f event-payload.json" "mv event-payload.json ' +
        'elsewhere" "ln -sf /dev/null event-payload.json" "cp /dev/null event-payload.json"; do eval "$way" && ' +
        'echo WROTE; done; cat event-payload.json; echo',
      'env | cut -d= -f1 | sort',
    ];
    folder = await factoryFolder({
      webhooks: { orders: { secretName: 'bearer' } },
      automations: { act: { webhooks: ['orders'], prompt: tried(commands) } },
    });
    await mill.factory('shop', folder.source);
    const body = { order: '{"weird": "bytes"}', at: 1 };
    expect((await deliver(mill.ingressUrl('shop', 'orders'), TOKEN, body)).status).toBe(202);
    const runId = await eventually('its run', async () => {
      const runs = (await mill.api('GET', '/agent/runs?source=CUSTOM_WEBHOOK')).body['runs'] as { run_id: string }[];
      return runs[0]?.run_id;
    });
    const [service = '', outside = '', payload = '', variables = ''] = await outputs(runId);
    expect(service + outside).not.toContain('REACHED');
    expect(service + outside).not.toContain('proxy 200');
    expect(payload).toContain(JSON.stringify(body));
    expect(payload).not.toContain('WROTE');
    expect(variables).not.toMatch(/MILLWRIGHT_(ADMIN|MASTER|DATABASE|AGENT)|bearer/i);
    expect(variables).toContain('MILLWRIGHT_RUN_ID');
  }, 120_000);
});
