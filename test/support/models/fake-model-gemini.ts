/** Gemini's content generation, as a fake endpoint speaks it. */
import type { Answer, AskedMessage, Protocol } from './fake-model-server.ts';

interface WirePart {
  text?: string;
  functionCall?: { id?: string; name: string; args?: unknown };
  functionResponse?: { name: string; response?: unknown };
  inlineData?: { mimeType: string };
}

interface WireContent {
  role?: 'user' | 'model';
  parts: WirePart[];
}

const PATH = /\/models\/([^/:]+):(streamGenerateContent|generateContent)$/;

export const geminiContent: Protocol = {
  name: 'gemini-content',
  matches: (path) => PATH.test(path),
  read: (body, path) => {
    const [, model = '', method] = PATH.exec(path) ?? [];
    return {
      model,
      stream: method === 'streamGenerateContent',
      system: ((body['systemInstruction'] ?? { parts: [] }) as WireContent).parts.map(({ text = '' }) => text).join(''),
      messages: (body['contents'] as WireContent[]).flatMap(asked),
      tools: ((body['tools'] ?? []) as { functionDeclarations?: { name: string }[] }[]).flatMap(
        ({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name),
      ),
    };
  },
  stream: (answer, { model }) => {
    const { text, tools = [] } = answer;
    const pieces = [...(text === undefined ? [] : [[{ text }]]), ...(tools.length === 0 ? [] : [toolParts(answer)])];
    return [...pieces.map((parts) => candidate(parts, model)), candidate([], model, answer)].map(
      (value) => `data: ${JSON.stringify(value)}\n\n`,
    );
  },
  whole: (answer, { model }) =>
    candidate([...(answer.text === undefined ? [] : [{ text: answer.text }]), ...toolParts(answer)], model, answer),
  error: (status, message) => ({
    error: { code: status, message, status: status === 401 || status === 403 ? 'PERMISSION_DENIED' : 'INTERNAL' },
  }),
  streamedError: (message) => `data: ${JSON.stringify({ error: { code: 500, message, status: 'INTERNAL' } })}\n\n`,
};

function toolParts({ tools = [] }: Answer): WirePart[] {
  return tools.map(({ name, input }, index) => ({ functionCall: { id: `call_${index}`, name, args: input } }));
}

/** `ended`: the answer whose last piece this is. */
function candidate(parts: readonly WirePart[], modelVersion: string, ended?: Answer): Record<string, unknown> {
  const content = { role: 'model', parts };
  if (ended === undefined) return { candidates: [{ index: 0, content }], modelVersion };
  const { input, output, cached = 0 } = ended.usage ?? { input: 100, output: 10 };
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    cachedContentTokenCount: cached,
  };
  return { candidates: [{ index: 0, content, finishReason: finishOf(ended) }], modelVersion, usageMetadata };
}

function finishOf({ finish = 'done' }: Answer): string {
  if (finish === 'done') return 'STOP';
  return finish === 'length' ? 'MAX_TOKENS' : 'SAFETY';
}

/** Answers of tools stand in user messages here; they are told apart. */
function asked({ role = 'user', parts }: WireContent): AskedMessage[] {
  const results = parts.flatMap(({ functionResponse: answer }) =>
    answer === undefined ? [] : [message('tool', JSON.stringify(answer.response ?? null))],
  );
  const rest = parts.filter(({ functionResponse }) => functionResponse === undefined);
  if (rest.length === 0) return results;
  const calls = rest.flatMap(({ functionCall: call }) =>
    call === undefined ? [] : [{ id: call.id ?? '', name: call.name, input: call.args }],
  );
  const files = rest.flatMap(({ inlineData }) => (inlineData === undefined ? [] : [inlineData.mimeType]));
  return [
    ...results,
    { ...message(role === 'model' ? 'assistant' : 'user', rest.map(({ text = '' }) => text).join('')), calls, files },
  ];
}

function message(role: AskedMessage['role'], text: string): AskedMessage {
  return { role, text, calls: [], files: [] };
}
