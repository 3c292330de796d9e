/** A prompt's content blocks as the message that the model reads. */
import { type ContentBlock, type EmbeddedResource, RequestError } from '@agentclientprotocol/sdk';
import type { UserModelMessage } from 'ai';

type Part = Exclude<UserModelMessage['content'], string>[number];

/** Prefix of an attached resource's text: what follows is content, not an instruction of the client. */
export const RESOURCE_MARK = '<resource ';

/**
 * One user message. Texts of the client stay apart from attached resources. Throws an invalid-params error for blocks
 * that were not advertised.
 */
export function userMessage(blocks: readonly ContentBlock[]): UserModelMessage {
  if (blocks.length === 0) throw RequestError.invalidParams(undefined, 'the prompt is empty');
  return { role: 'user', content: blocks.map(partOf) };
}

/** The client's own text of a message, without attached resources. */
export function ownText(parts: readonly { type: string; text?: string }[]): string {
  return parts
    .flatMap(({ type, text = '' }) => (type === 'text' && !text.startsWith(RESOURCE_MARK) ? [text] : []))
    .join('\n');
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'file', data: base64(block.data), mediaType: block.mimeType };
    case 'resource_link':
      return { type: 'text', text: `${RESOURCE_MARK}name=${quoted(block.name)} uri=${quoted(block.uri)} />` };
    case 'resource':
      return resource(block);
    case 'audio':
      throw RequestError.invalidParams(undefined, 'audio is not supported');
  }
}

function resource({ resource: content }: EmbeddedResource): Part {
  const uri = quoted(content.uri);
  if ('text' in content) return { type: 'text', text: `${RESOURCE_MARK}uri=${uri}>\n${content.text}\n</resource>` };
  const mediaType = content.mimeType ?? 'application/octet-stream';
  if (mediaType.startsWith('image/') || mediaType === 'application/pdf')
    return { type: 'file', data: base64(content.blob), mediaType };
  return {
    type: 'text',
    text: `${RESOURCE_MARK}uri=${uri} type=${quoted(mediaType)}>(binary content that the model cannot read)</resource>`,
  };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Checked here, where the client gets the error: providers fail on it much later. */
function base64(text: string): string {
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0) return text;
  throw RequestError.invalidParams(undefined, 'an attachment is not base64');
}
