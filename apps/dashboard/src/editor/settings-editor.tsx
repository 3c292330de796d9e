/** The editor of an automation's settings: agent, concurrency, limits, network. */
import { useMemo } from 'react';
import CodeEditor from './code-editor.tsx';
import { givenMarks, jsonKnowledge, type Mark } from './json-language.ts';
import { SETTINGS_SCHEMA } from './settings-schema.ts';

interface SettingsEditorProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  /** What the server says of it. */
  marks: readonly Mark[];
  describedBy?: string;
  isInvalid?: boolean;
}

export default function SettingsEditor({ marks, ...rest }: SettingsEditorProps) {
  const knowledge = useMemo(() => jsonKnowledge({ schema: SETTINGS_SCHEMA, isChecking: true }), []);
  const extensions = useMemo(() => [knowledge, givenMarks.of(marks)], [knowledge, marks]);
  return <CodeEditor {...rest} language="json" extensions={extensions} minHeight="8rem" />;
}
