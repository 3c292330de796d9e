/** For tests: an editor, as the client library of the Language Server Protocol is one, with a server as its child. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type ClientCapabilities,
  type CodeAction,
  type CompletionItem,
  type CompletionList,
  type Diagnostic,
  type DocumentLink,
  type Hover,
  type InitializeResult,
  type MarkupContent,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type Range,
  type TextEdit,
} from 'vscode-languageserver/node';

/** What the editors can do that these tests stand for. */
const CAPABILITIES: ClientCapabilities = {
  workspace: {
    workspaceFolders: true,
    configuration: true,
    didChangeWatchedFiles: { dynamicRegistration: true },
    workspaceEdit: { documentChanges: true, resourceOperations: ['rename'] },
  },
  textDocument: {
    publishDiagnostics: { versionSupport: true, codeDescriptionSupport: true },
    hover: { contentFormat: ['markdown', 'plaintext'] },
    completion: { completionItem: { snippetSupport: false } },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'source.fixAll'] } } },
  },
};

export interface EditorOptions {
  /** The folder that is open. */
  folder: string;
  /** What the editor is set to, by section. */
  settings?: Readonly<Record<string, unknown>>;
  capabilities?: ClientCapabilities;
  environment?: Readonly<Record<string, string>>;
}

/** An open editor. */
export class Editor {
  readonly connection: ProtocolConnection;
  initialized: InitializeResult | undefined;
  /** Everything that the server wrote beside the protocol. */
  stderr = '';
  private readonly published = new Map<string, PublishDiagnosticsParams>();
  private readonly listeners = new Set<() => void>();
  private readonly versions = new Map<string, number>();

  private constructor(
    readonly server: ChildProcess,
    private readonly options: EditorOptions,
  ) {
    const { stdout, stdin } = server;
    if (stdout === null || stdin === null) throw new Error('the server has no pipes');
    this.connection = createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    server.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.published.set(decodeURI(params.uri), params);
      for (const listener of this.listeners) listener();
    });
    this.connection.onRequest('client/registerCapability', () => null);
    this.connection.onRequest('workspace/configuration', ({ items }: { items: { section?: string }[] }) =>
      items.map(({ section = '' }) => options.settings?.[section] ?? null),
    );
    this.connection.listen();
  }

  /** Starts a server and says hello to it. */
  static async open(command: readonly [string, ...string[]], options: EditorOptions): Promise<Editor> {
    const [program, ...args] = command;
    const server = spawn(program, args, {
      cwd: options.folder,
      env: { PATH: process.env['PATH'], HOME: options.folder, ...options.environment },
    });
    const editor = new Editor(server, options);
    const rootUri = pathToFileURL(options.folder).href;
    editor.initialized = await editor.connection.sendRequest<InitializeResult>('initialize', {
      processId: process.pid,
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: 'factory' }],
      capabilities: options.capabilities ?? CAPABILITIES,
    });
    await editor.connection.sendNotification('initialized', {});
    await editor.connection.sendNotification('workspace/didChangeConfiguration', { settings: options.settings ?? {} });
    return editor;
  }

  uri(path: string): string {
    return pathToFileURL(`${this.options.folder}/${path}`).href;
  }

  async openText(path: string, text: string, languageId = 'yaml'): Promise<void> {
    this.versions.set(path, 1);
    await this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri: this.uri(path), languageId, version: 1, text },
    });
  }

  /** Replaces a range, or the whole text. */
  async change(path: string, text: string, range?: Range): Promise<void> {
    const version = (this.versions.get(path) ?? 1) + 1;
    this.versions.set(path, version);
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri: this.uri(path), version },
      contentChanges: [range === undefined ? { text } : { range, text }],
    });
  }

  async closeText(path: string): Promise<void> {
    await this.connection.sendNotification('textDocument/didClose', { textDocument: { uri: this.uri(path) } });
  }

  /** The newest diagnostics of a file once they are as they should be. Rejects, telling them, when they never are. */
  async diagnostics(path: string, isAwaited: (found: Diagnostic[]) => boolean, ms = 110_000): Promise<Diagnostic[]> {
    const key = decodeURI(this.uri(path));
    const now = (): Diagnostic[] | undefined => this.published.get(key)?.diagnostics;
    const isThere = (): boolean => {
      const found = now();
      return found !== undefined && isAwaited(found);
    };
    if (!isThere())
      await new Promise<void>((resolve, reject) => {
        const done = (): void => {
          if (!isThere()) return;
          clearTimeout(timer);
          this.listeners.delete(done);
          resolve();
        };
        const timer = setTimeout(() => {
          this.listeners.delete(done);
          reject(new Error(`${path} has ${JSON.stringify(now())}\n${this.stderr}`));
        }, ms);
        this.listeners.add(done);
      });
    return now() ?? [];
  }

  /** The files that anything was told of. */
  get told(): string[] {
    return [...this.published].filter(([, { diagnostics }]) => diagnostics.length > 0).map(([uri]) => uri);
  }

  async hover(path: string, line: number, character: number): Promise<string | undefined> {
    const hover = await this.connection.sendRequest<Hover | null>('textDocument/hover', this.at(path, line, character));
    return hover === null ? undefined : (hover.contents as MarkupContent).value;
  }

  async complete(path: string, line: number, character: number): Promise<CompletionItem[]> {
    const answer = await this.connection.sendRequest<CompletionItem[] | CompletionList | null>(
      'textDocument/completion',
      this.at(path, line, character),
    );
    return Array.isArray(answer) ? answer : (answer?.items ?? []);
  }

  format(path: string): Promise<TextEdit[] | null> {
    return this.connection.sendRequest('textDocument/formatting', {
      textDocument: { uri: this.uri(path) },
      options: { tabSize: 2, insertSpaces: true },
    });
  }

  actions(path: string, range: Range, only?: string[]): Promise<CodeAction[] | null> {
    return this.connection.sendRequest('textDocument/codeAction', {
      textDocument: { uri: this.uri(path) },
      range,
      context: { diagnostics: [], ...(only === undefined ? {} : { only }) },
    });
  }

  links(path: string): Promise<DocumentLink[] | null> {
    return this.connection.sendRequest('textDocument/documentLink', { textDocument: { uri: this.uri(path) } });
  }

  /** Says goodbye as the protocol has it; answers how the server ended. */
  async close(): Promise<number | null> {
    const ended = this.hasEnded();
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    return ended;
  }

  /** How the server ended, when it has. */
  async hasEnded(): Promise<number | null> {
    if (this.server.exitCode !== null || this.server.signalCode !== null) return this.server.exitCode;
    const [code] = (await once(this.server, 'exit')) as [number | null];
    return code;
  }

  private at(path: string, line: number, character: number): object {
    return { textDocument: { uri: this.uri(path) }, position: { line, character } };
  }
}
