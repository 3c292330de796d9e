/** The editor of payload filters: says what is wrong while one types, and offers what deliveries have. */
import { compileFilter, type JsonValue } from '#filters';
import { useMemo } from 'react';
import CodeEditor from './code-editor.tsx';
import { filterSchema } from './filter-schema.ts';
import { givenMarks, jsonKnowledge, type Mark } from './json-language.ts';

interface FilterEditorProps {
  value: string;
  onChange?: (value: string) => void;
  label: string;
  readOnly?: boolean;
  /** What others say of it: the server, or a test. */
  marks: readonly Mark[];
  /** Payloads of the webhooks, for names and values. */
  specimens: readonly JsonValue[];
  describedBy?: string;
  isInvalid?: boolean;
}

export default function FilterEditor({ marks, specimens, ...rest }: FilterEditorProps) {
  const knowledge = useMemo(
    () => jsonKnowledge({ schema: filterSchema(specimens), isChecking: false, checks: grammarMarks }),
    [specimens],
  );
  const extensions = useMemo(() => [knowledge, givenMarks.of(marks)], [knowledge, marks]);
  return <CodeEditor {...rest} language="json" extensions={extensions} minHeight="5rem" maxHeight="22rem" />;
}

/** What the engine refuses or doubts, by the same code as in the service. */
function grammarMarks(filter: unknown): Mark[] {
  const compilation = compileFilter(filter);
  const found = compilation.ok ? compilation.warnings : compilation.problems;
  return found.map(({ pointer, message }) => ({ pointer, message, severity: compilation.ok ? 'warning' : 'error' }));
}
