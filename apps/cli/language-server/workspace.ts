/** What is open in an editor, where it belongs, and what was told of it. contract §11.11 (Language server). */
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { declaredNames, type DeclaredNames, type Reading } from '#definitions';
import type { ClientCapabilities, Connection, TextDocuments } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { printable } from '../reports/report.ts';
import type { ActionsDeps } from './actions.ts';
import { Checks } from './checks.ts';
import { byPath, diagnosticsOf } from './diagnostics.ts';
import { isFactory, placeOf, type Checked, type Place } from './repositories.ts';

/** The editor's workspace. */
export class Workspace {
  readonly checks: Checks;
  private folders: readonly string[] = [];
  private client: ClientCapabilities = {};
  /** What each file was last told, by repository and path, as text: what has not changed is not told again. */
  private readonly told = new Map<string, Map<string, string>>();
  private names: { reading: Reading; names: DeclaredNames } | undefined;

  constructor(
    private readonly connection: Connection,
    readonly documents: TextDocuments<TextDocument>,
    readonly guide: string | undefined,
  ) {
    this.checks = new Checks({
      openTexts: (root) => new Map([...this.openIn(root)].map(([path, document]) => [path, document.getText()])),
      onChecked: (root, checked, reason) => this.tell(root, checked, reason),
    });
  }

  begin(folders: readonly string[], client: ClientCapabilities): void {
    [this.folders, this.client] = [folders, client];
  }

  /** Factories are checked as a whole before any of their files is opened. */
  checkFactories(): void {
    for (const folder of this.folders) if (isFactory(folder)) this.checks.changed(folder);
  }

  changeFolders(added: readonly string[], removed: readonly string[]): void {
    this.folders = [...this.folders.filter((folder) => !removed.includes(folder)), ...added];
    for (const root of this.checks.roots) {
      if (this.folders.some((folder) => root === folder || root.startsWith(`${folder}/`))) continue;
      this.checks.forget(root);
      this.tell(root, undefined);
    }
    for (const { uri } of this.documents.all()) this.textChanged(uri);
    this.checkFactories();
  }

  textChanged(uri: string): void {
    const place = this.placeOf(uri);
    if (place !== undefined) this.checks.changed(place.root);
  }

  /** A text that was closed counts no more; what is on disk counts again. */
  textClosed(uri: string): void {
    const place = this.placeOf(uri);
    if (place === undefined) return;
    // An editor may forget what it was told of a text that it closes
    this.told.get(place.root)?.set(place.path, '');
    this.checks.changed(place.root);
  }

  filesChanged(uris: readonly string[]): void {
    const roots = new Set(uris.flatMap((uri) => this.placeOf(uri)?.root ?? []));
    for (const root of roots) this.checks.changed(root);
  }

  /** Where a text belongs; undefined for those that are no files of a factory of this workspace. */
  placeOf(uri: string): Place | undefined {
    const file = fileOf(uri);
    return file === undefined ? undefined : placeOf(file, this.folders);
  }

  /** Names that the repository's files declared when they were last checked. */
  namesIn(root: string): DeclaredNames | undefined {
    const reading = this.checks.latest(root)?.reading;
    if (reading !== undefined && this.names?.reading !== reading)
      this.names = { reading, names: declaredNames(reading) };
    return reading === undefined ? undefined : this.names?.names;
  }

  /** What actions of a file are made of. */
  actionsDeps({ root, path }: Place, checked: Checked): ActionsDeps {
    const open = this.openIn(root);
    const edits = this.client.workspace?.workspaceEdit;
    return {
      checked,
      path,
      uriOf: (other) => open.get(other)?.uri ?? uriOf(root, other),
      versionOf: (other) => open.get(other)?.version ?? null,
      guide: this.guide,
      can: {
        renames: edits?.documentChanges === true && edits.resourceOperations?.includes('rename') === true,
        versions: edits?.documentChanges === true,
      },
    };
  }

  private openIn(root: string): Map<string, TextDocument> {
    const found = new Map<string, TextDocument>();
    for (const document of this.documents.all()) {
      const place = this.placeOf(document.uri);
      if (place?.root === root) found.set(place.path, document);
    }
    return found;
  }

  /** Of a folder that cannot be read nothing is known any more. */
  private tell(root: string, checked: Checked | undefined, reason?: string): void {
    if (reason !== undefined) this.connection.console.warn(printable(reason));
    const before = this.told.get(root) ?? new Map<string, string>();
    const now = new Map<string, string>();
    const open = this.openIn(root);
    const problems = byPath(checked?.problems ?? []);
    for (const path of new Set([...problems.keys(), ...before.keys(), ...open.keys()])) {
      const found = problems.get(path) ?? [];
      const diagnostics = diagnosticsOf(found, () => checked?.textOf(path) ?? '', this.guide);
      const text = JSON.stringify(diagnostics);
      if (found.length > 0 || open.has(path)) now.set(path, text);
      if (text === (before.get(path) ?? '')) continue;
      const document = open.get(path);
      const uri = document?.uri ?? uriOf(root, path);
      void this.connection.sendDiagnostics({ uri, version: document?.version, diagnostics });
    }
    this.told.set(root, now);
  }
}

function uriOf(root: string, path: string): string {
  return pathToFileURL(join(root, path)).href;
}

/** Undefined for texts that are no files: untitled ones, those of another machine. */
function fileOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
