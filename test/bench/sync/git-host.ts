/**
 * The git server of the tests as a process of its own, so that its work is not the measuring process's: tells where it
 * is, then how often it was asked.
 */
import { startGitServer } from '../../support/git/git-server.ts';

const server = await startGitServer();
process.on('message', () => process.send?.({ looks: server.count('advertisement') }));
process.once('disconnect', () => void server.close().then(() => process.exit(0)));
process.send?.({ url: server.url, caFile: server.caFile, root: server.root });
