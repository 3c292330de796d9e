/** Which hosts let what a run knows out to strangers. */
import { writingMethods, type AutomationCapabilities } from './capabilities.ts';

/** Made to take whatever is sent there, below these names too. */
const DROP_HOSTS: readonly string[] = [
  'webhook.site requestbin.com requestbin.net pipedream.net beeceptor.com pastebin.com paste.rs dpaste.com dpaste.org',
  'hastebin.com transfer.sh file.io 0x0.st termbin.com ngrok.io ngrok.app ngrok.dev ngrok-free.app ngrok-free.dev',
  'trycloudflare.com oast.fun oast.live oast.me oast.online oast.pro oast.site interact.sh burpcollaborator.net ix.io',
  'temp.sh gofile.io catbox.moe',
].flatMap((line) => line.split(' '));

/** Names below which anybody can have one. */
const RENTED: ReadonlySet<string> = new Set(
  [
    'github.io gitlab.io githubusercontent.com pages.dev workers.dev netlify.app vercel.app herokuapp.com fly.dev',
    'onrender.com azurewebsites.net windows.net blob.core.windows.net amazonaws.com s3.amazonaws.com cloudfront.net',
    'appspot.com run.app web.app firebaseapp.com googleapis.com r2.dev supabase.co blogspot.com wordpress.com',
    'glitch.me repl.co replit.app co.uk com.au co.jp com.br org.uk co.in',
  ].flatMap((line) => line.split(' ')),
);

/** Where anybody has an account and can read what others write. */
const PUBLIC_HOSTS: ReadonlySet<string> = new Set(
  [
    'github.com api.github.com gist.github.com raw.github.com uploads.github.com gitlab.com bitbucket.org',
    'api.bitbucket.org discord.com discordapp.com api.telegram.org hooks.slack.com slack.com npmjs.org',
    'registry.npmjs.org pypi.org upload.pypi.org huggingface.co s3.amazonaws.com storage.googleapis.com',
    'docs.google.com drive.google.com script.google.com www.googleapis.com content.dropboxapi.com api.dropboxapi.com',
    'api.twitter.com x.com api.x.com www.reddit.com reddit.com hub.docker.com codeberg.org',
  ].flatMap((line) => line.split(' ')),
);

/** Whether everything that is sent to a host of this pattern can be read by whoever asks. */
export function isDropHost(pattern: string): boolean {
  const host = bareHost(pattern);
  return DROP_HOSTS.some((drop) => host === drop || host.endsWith(`.${drop}`));
}

/** Whether strangers can have a host that the pattern covers. */
export function isWidePattern(pattern: string): boolean {
  const host = bareHost(pattern);
  return pattern.startsWith('*.') && (!host.includes('.') || RENTED.has(host));
}

/** What of a run lets its knowledge out to anybody, in words; empty: nothing that the files say. */
export function outletsOf({ hosts, tools, secrets }: AutomationCapabilities): string[] {
  const reached = hosts.filter(({ by, host }) => by === 'network' && isOutlet(host)).map(({ host }) => host);
  const servers = tools
    .filter(({ host, tools: limit }) => host !== undefined && limit === undefined)
    .map(({ server }) => `every tool of the MCP server ${server}`);
  const writes = secrets
    .filter(({ entry }) => writingMethods(entry).length > 0 && entry.paths === undefined)
    .filter(({ entry: { host = '' } }) => isOutlet(host))
    .map(({ entry: { host } }) => `requests that write anything at ${host}`);
  return [...new Set([...reached, ...servers, ...writes])];
}

function isOutlet(pattern: string): boolean {
  return isDropHost(pattern) || isWidePattern(pattern) || PUBLIC_HOSTS.has(bareHost(pattern));
}

function bareHost(pattern: string): string {
  return pattern.toLowerCase().replace(/^\*\./, '').replace(/:\d+$/, '');
}
