/**
 * The language server: hears of what is typed in an editor, and says what `validate`, `--fix`, `fmt` and `explain`
 * would.
 * It reads below the folders of the workspace, writes nothing, and executes nothing. contract §11.11 (Language server).
 */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  createConnection,
  DidChangeWatchedFilesNotification,
  TextDocuments,
  TextDocumentSyncKind,
  type ClientCapabilities,
  type Connection,
  type InitializeParams,
  type InitializeResult,
  type ServerCapabilities,
} from 'vscode-languageserver/node';
import { CodeActionKind } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { version } from '../version.ts';
import { answerRequests } from './answers.ts';
import { FIX_ALL } from './actions.ts';
import { Workspace } from './workspace.ts';

/** Files of a factory, for editors that tell of changes which were made elsewhere. */
const WATCHED = ['**/factory.yaml', '**/{webhooks,environments}/*.yaml', '**/automations/*/*.md', '**/skills/*/**'];

const CAPABILITIES: ServerCapabilities = {
  positionEncoding: 'utf-16',
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, FIX_ALL] },
  documentFormattingProvider: true,
  hoverProvider: true,
  completionProvider: { triggerCharacters: [' ', '[', '{', ','] },
  documentLinkProvider: {},
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
};

export interface LanguageServerIo {
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
}

/**
 * Serves one editor until it says goodbye or is gone; the process ends with it: with 0 where it has said so, else with
 * 1. `guide` is where pages of rules are.
 */
export function serveLanguage({ stdin, stdout, stderr }: LanguageServerIo, guide: string | undefined): Promise<never> {
  // Whoever does not read any more is gone, and with it the reason to go on
  stdout.on('error', () => process.exit(1));
  // One answer that fails is one answer; what is wrong inside must not end the others
  process.on('uncaughtException', (cause) => void stderr.write(`millwright lsp: ${messageOf(cause)}\n`));
  process.on('unhandledRejection', (cause) => void stderr.write(`millwright lsp: ${messageOf(cause)}\n`));
  const connection = createConnection(stdin, stdout);
  const documents = new TextDocuments(TextDocument);
  const workspace = new Workspace(connection, documents, guide);
  let client: ClientCapabilities = {};
  connection.onInitialize((params): InitializeResult => {
    client = params.capabilities;
    workspace.begin(foldersOf(params), client);
    return { capabilities: CAPABILITIES, serverInfo: { name: 'millwright', version: version() } };
  });
  connection.onInitialized(() => {
    if (client.workspace?.didChangeWatchedFiles?.dynamicRegistration === true) watchFiles(connection);
    if (client.workspace?.workspaceFolders === true)
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) =>
        workspace.changeFolders(added.flatMap(folderOf), removed.flatMap(folderOf)),
      );
    workspace.checkFactories();
  });
  connection.onDidChangeWatchedFiles(({ changes }) => workspace.filesChanged(changes.map(({ uri }) => uri)));
  documents.onDidChangeContent(({ document }) => workspace.textChanged(document.uri));
  documents.onDidSave(({ document }) => workspace.textChanged(document.uri));
  documents.onDidClose(({ document }) => workspace.textClosed(document.uri));
  answerRequests(connection, workspace);
  documents.listen(connection);
  connection.listen();
  return new Promise(() => undefined);
}

function watchFiles(connection: Connection): void {
  const watchers = WATCHED.map((globPattern) => ({ globPattern }));
  // An editor that cannot after all tells of what is saved in it
  connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch(() => undefined);
}

function foldersOf({ workspaceFolders, ...older }: InitializeParams): string[] {
  const { rootUri } = older as { rootUri?: string | null };
  if (workspaceFolders !== null && workspaceFolders !== undefined) return workspaceFolders.flatMap(folderOf);
  return typeof rootUri === 'string' ? folderOf({ uri: rootUri }) : [];
}

/** Folders that are not on this machine are none. */
function folderOf({ uri }: { uri: string }): string[] {
  try {
    const folder = fileURLToPath(uri);
    realpathSync(folder);
    return [folder.length > 1 ? folder.replace(/[/\\]$/, '') : folder];
  } catch {
    return [];
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'unknown failure';
}
