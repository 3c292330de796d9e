// Inside a run's sandbox: listens on its loopback and pipes every connection to the proxy outside, whose socket is
// shown here.
// node egress-forwarder.mjs <socket> <port of the proxy> [<host:port to be found at the same port here> …]
import { closeSync, openSync, writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const [socketPath, proxyPort, ...mirrored] = process.argv.slice(2);

/** Characters of an answer to CONNECT; a longer one is none. */
const ANSWER_LENGTH_MAX = 4_096;

// It ends with the sandbox: what is asked to end may still have something to say to the network.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);

await listen(Number(proxyPort), (client, way) => join(client, way));
for (const target of mirrored) {
  // A port that cannot be had here is still reached through the proxy.
  await listen(Number(target.slice(target.lastIndexOf(':') + 1)), (client, way) => tunnel(client, way, target)).catch(
    () => undefined,
  );
}
// Whoever waits for this reads on until it is closed. Its number is taken again at once: a connection with it would
// never be closed by node.
writeSync(1, 'ready');
closeSync(1);
openSync('/dev/null', 'w');

// Small pieces of an answer are not held back until the ones before them are acknowledged: that takes 40 ms.
function listen(port, connected) {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) => {
    const way = connect({ path: socketPath, allowHalfOpen: true });
    for (const socket of [client, way]) socket.on('error', () => [client, way].forEach((one) => one.destroy()));
    way.once('connect', () => connected(client, way));
  });
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
}

/** Asks the proxy for one target, and pipes once it has agreed. */
function tunnel(client, way, target) {
  let answer = '';
  const refused = () => [client, way].forEach((socket) => socket.destroy());
  const read = (bytes) => {
    answer += bytes.toString('latin1');
    const end = answer.indexOf('\r\n\r\n');
    if (end < 0 && answer.length < ANSWER_LENGTH_MAX) return;
    way.off('data', read).off('end', refused).pause();
    if (!answer.startsWith('HTTP/1.1 200 ')) return refused();
    if (answer.length > end + 4) way.unshift(Buffer.from(answer.slice(end + 4), 'latin1'));
    join(client, way);
  };
  way.on('data', read).on('end', refused);
  way.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
}

function join(client, way) {
  client.pipe(way);
  way.pipe(client);
  client.on('close', () => way.destroySoon());
  way.on('close', () => client.destroySoon());
}
