/** Real proxies before a service: Debian's haproxy and nginx, each with few connections that all senders share. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.ts';

export const REVERSE_PROXIES = ['haproxy', 'nginx'] as const;
export type ReverseProxy = (typeof REVERSE_PROXIES)[number];

const STARTS_WITHIN_MS = 15_000;

/** Where it is; undefined: it is not installed. With REQUIRE_PROXIES=1 that is an error. */
export function reverseProxyProgram(proxy: ReverseProxy): string | undefined {
  const program = [`/usr/sbin/${proxy}`, `/usr/bin/${proxy}`, `/opt/homebrew/bin/${proxy}`].find(existsSync);
  if (program === undefined && process.env['REQUIRE_PROXIES'] === '1')
    throw new Error(`REQUIRE_PROXIES=1, and there is no ${proxy}`);
  if (program === undefined)
    process.stderr.write(`\nSuites with ${proxy} are SKIPPED: it is not installed (Debian package ${proxy})\n\n`);
  return program;
}

export interface RunningProxy {
  url: string;
  close(): Promise<void>;
}

/** Starts it before the service of `url`. */
export async function startReverseProxy(proxy: ReverseProxy, url: string): Promise<RunningProxy> {
  const program = reverseProxyProgram(proxy);
  if (program === undefined) throw new Error(`there is no ${proxy}`);
  const folder = mkdtempSync(join(tmpdir(), `millwright-${proxy}-`));
  const [port, { host }] = [await freePort(), new URL(url)];
  const file = join(folder, 'settings');
  writeFileSync(file, proxy === 'nginx' ? ofNginx(port, host, folder) : ofHaproxy(port, host));
  const argv = proxy === 'nginx' ? ['-c', file, '-p', folder, '-e', 'stderr'] : ['-db', '-f', file];
  const child = spawn(program, argv, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const givenUpAtMs = performance.now() + STARTS_WITHIN_MS;
  const ours = `http://127.0.0.1:${port}`;
  while (!(await answers(ours, host))) {
    if (child.exitCode !== null || performance.now() > givenUpAtMs) {
      await close();
      throw new Error(`${proxy} did not start: ${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url: ours, close };
}

/** Whether it passes requests on. */
async function answers(url: string, host: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { headers: { host } }).then(
    ({ status }) => status === 200 || status === 421,
    () => false,
  );
}

/** One connection to the service, which goes on behind every request that leaves it whole. */
const ofHaproxy = (port: number, host: string): string => `global
  maxconn 200
  nbthread 1
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout http-request 5s
  timeout http-keep-alive 60s
  http-reuse always
listen front
  bind 127.0.0.1:${port}
  server service ${host} maxconn 1 pool-max-conn 1 pool-purge-delay 30s
`;

const ofNginx = (port: number, host: string, folder: string): string => `daemon off;
master_process off;
pid ${folder}/pid;
events { worker_connections 200; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream service { server ${host}; keepalive 1; }
  server {
    listen 127.0.0.1:${port};
    client_header_timeout 5s;
    client_body_timeout 5s;
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_request_buffering off;
    }
  }
}
`;
