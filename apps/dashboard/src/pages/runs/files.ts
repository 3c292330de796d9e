/** Files of somebody's disk as attachments of a request. */
import type { Api } from '../../api/client.ts';

/** Bytes that the files of one request may have together: in base64 they fit into its 8 MiB. */
const FILES_BYTES = 5 * 1_048_576;

/** Why these files cannot go along; undefined when they can. */
export function faultOf(files: readonly File[]): string | undefined {
  if (files.length > 5) return 'Five files at most';
  if (files.reduce((sum, { size }) => sum + size, 0) > FILES_BYTES) return 'Together at most 5 MiB';
  return undefined;
}

export async function attachmentsOf(files: readonly File[]): Promise<Api<'Attachment'>[]> {
  const names = new Set<string>();
  return Promise.all(
    files.map(async (file) => ({
      file_name: nameOf(file.name, names),
      mime_type: file.type === '' ? 'application/octet-stream' : (file.type.split(';')[0] ?? ''),
      data: base64(new Uint8Array(await file.arrayBuffer())),
    })),
  );
}

/** The name as workspaces take it, once in a request. */
function nameOf(name: string, taken: Set<string>): string {
  const plain =
    name
      .replaceAll(/[^A-Za-z0-9._-]/g, '_')
      .replace(/^\.+/, '')
      .slice(-110) || 'file';
  let unique = plain;
  for (let count = 2; taken.has(unique); count++) unique = `${count}-${plain}`;
  taken.add(unique);
  return unique;
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}
