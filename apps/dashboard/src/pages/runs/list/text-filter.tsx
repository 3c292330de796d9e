/** A text filter of the list of runs, held in the address of the page. */
import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import type { SetURLSearchParams } from 'react-router';
import { withValues } from './filters.ts';

/** Milliseconds without a key press until the filter is applied: one request a word, not one a letter. */
const TYPING_PAUSE_MS = 350;

export interface FilterProps {
  params: URLSearchParams;
  setParams: SetURLSearchParams;
}

interface TextFilterProps extends FilterProps {
  name: string;
  label: string;
  placeholder?: string;
  style?: React.CSSProperties;
}

/** One text filter, applied once typing pauses; further typing replaces the same entry of the browser's history. */
export function TextFilter({ name, label, placeholder, params, setParams, style }: TextFilterProps) {
  const current = params.get(name) ?? '';
  const [text, setText] = useState(current);
  const applied = useRef(current);
  useEffect(() => {
    if (applied.current === current) return;
    applied.current = current;
    setText(current);
  }, [current]);
  useEffect(() => {
    const next = text.trim();
    if (next === applied.current.trim()) return undefined;
    const timer = setTimeout(() => {
      const wasEmpty = applied.current === '';
      applied.current = next;
      setParams((before) => withValues(before, name, [next]), { replace: !wasEmpty });
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, name, setParams]);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={text}
      maxLength={500}
      onChange={(event) => setText(event.currentTarget.value)}
      style={style ?? { flex: '1 1 11rem' }}
      type={name === 'q' ? 'search' : 'text'}
    />
  );
}
