/**
 * A text editor for JSON, YAML and Markdown: follows the page's colours, keeps within its policy, and lets the Tab key
 * pass.
 */
import { Text, useComputedColorScheme } from '@mantine/core';
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnosticsEffect } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, Compartment, EditorState, Transaction, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { use, useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { NONCE } from '../app/nonce.ts';
import { UntrustedText } from '../components/text/untrusted-text.tsx';
import { foundIn } from './external-marks.ts';
import { editorColours, editorTheme } from './theme.ts';

interface CodeEditorProps {
  value: string;
  /** What a person made of it; not called for changes of `value` from outside. */
  onChange?: (value: string) => void;
  language: 'json' | 'yaml' | 'markdown';
  /** Names the editor to screen readers. */
  label: string;
  readOnly?: boolean;
  /** Completion, checks and the like; a new array replaces the old one. */
  extensions?: readonly Extension[];
  /** Characters at most; typing beyond is refused and said. */
  maxLength?: number;
  /** CSS lengths. */
  minHeight?: string;
  maxHeight?: string;
  /** The element that says what is wrong with the whole. */
  describedBy?: string;
  /** Whether it was refused. */
  isInvalid?: boolean;
}

/** What a prompt may have, and more than any filter needs. */
const LENGTH_MAX = 262_144;
const NO_EXTENSIONS: readonly Extension[] = [];
const LANGUAGES: Readonly<Record<CodeEditorProps['language'], () => Promise<Extension>>> = {
  json: async () => (await import('@codemirror/lang-json')).json(),
  yaml: async () => (await import('@codemirror/lang-yaml')).yaml(),
  markdown: async () => (await import('@codemirror/lang-markdown')).markdown(),
};
const loaded = new Map<CodeEditorProps['language'], Promise<Extension>>();

/** Asked for once; whoever renders an editor waits for it, so that nothing changes under a person's hands. */
function supportOf(language: CodeEditorProps['language']): Promise<Extension> {
  const support = loaded.get(language) ?? LANGUAGES[language]();
  loaded.set(language, support);
  return support;
}

const FROM_OUTSIDE = Annotation.define<boolean>();
/** Beside those that the editor knows: everything else that reorders or hides text. */
const HIDDEN = /\u200d|[\u200c\u202a-\u202c\u2060-\u2065\u2068\u206a-\u206f\u180e\u{e0000}-\u{e007f}]/gu;

export default function CodeEditor(props: CodeEditorProps) {
  const { value, readOnly = false } = props;
  const hint = useId();
  const { host, isFull, found } = useEditor(props, hint);
  return (
    <div>
      <div ref={host} />
      <div id={hint} className="visually-hidden">
        {readOnly
          ? 'Read only.'
          : 'Tab leaves the editor. Control and space shows what can be written here, control and F searches.'}
      </div>
      <div role="status" className={isFull ? undefined : 'visually-hidden'}>
        {isFull
          ? `There is no room for that: ${(props.maxLength ?? LENGTH_MAX).toLocaleString()} characters at most, ` +
            `${value.length.toLocaleString()} are there.`
          : ''}
      </div>
      <Text
        role="status"
        size="sm"
        c={found.startsWith('Error') ? 'var(--mantine-color-error)' : 'dimmed'}
        mt={found === '' ? 0 : 4}
      >
        {found !== '' && <UntrustedText>{found}</UntrustedText>}
      </Text>
    </div>
  );
}

/** The editor inside the element of `host`; made once, told of everything that changes. */
function useEditor(props: CodeEditorProps, hint: string) {
  const {
    value,
    language,
    label,
    readOnly = false,
    extensions = NO_EXTENSIONS,
    minHeight,
    maxHeight,
    describedBy,
    isInvalid = false,
  } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const [parts] = useState(() => ({
    language: new Compartment(),
    colours: new Compartment(),
    given: new Compartment(),
    manner: new Compartment(),
  }));
  const [isFull, setFull] = useState(false);
  const [found, setFound] = useState('');
  const changed = useEffectEvent((text: string) => props.onChange?.(text));
  const room = useEffectEvent(() => props.maxLength ?? LENGTH_MAX);
  const support = use(supportOf(language));
  const isDark = useComputedColorScheme('light') === 'dark';

  useEffect(() => {
    const made = new EditorView({
      parent: host.current ?? undefined,
      state: EditorState.create({
        extensions: [
          ...basics(),
          ...Object.values(parts).map((part) => part.of([])),
          bounded(() => room(), setFull),
          reporting((text) => changed(text)),
          judging(setFound),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [parts]);

  useEffect(
    () =>
      view.current?.dispatch({
        effects: parts.language.reconfigure([support, ...(language === 'markdown' ? [] : [lintGutter()])]),
      }),
    [parts, support, language],
  );
  useEffect(
    () =>
      view.current?.dispatch({
        effects: parts.colours.reconfigure([EditorView.darkTheme.of(isDark), editorTheme(minHeight, maxHeight)]),
      }),
    [parts, isDark, minHeight, maxHeight],
  );
  useEffect(() => view.current?.dispatch({ effects: parts.given.reconfigure([...extensions]) }), [parts, extensions]);
  useEffect(
    () =>
      view.current?.dispatch({
        effects: parts.manner.reconfigure(
          manner(label, { isReadOnly: readOnly, isInvalid }, [
            hint,
            ...(describedBy === undefined ? [] : [describedBy]),
          ]),
        ),
      }),
    [parts, label, readOnly, isInvalid, hint, describedBy],
  );
  useEffect(() => {
    const shown = view.current;
    const wanted = value.replaceAll(/\r\n?/g, '\n');
    if (shown === null || shown.state.doc.toString() === wanted) return;
    shown.dispatch({
      changes: { from: 0, to: shown.state.doc.length, insert: wanted },
      annotations: [FROM_OUTSIDE.of(true), Transaction.addToHistory.of(false)],
    });
  }, [value]);
  return { host, isFull, found };
}

function basics(): Extension[] {
  return [
    EditorView.cspNonce.of(NONCE),
    lineNumbers(),
    highlightSpecialChars({ addSpecialChars: HIDDEN }),
    history(),
    drawSelection(),
    EditorView.lineWrapping,
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    highlightSelectionMatches(),
    search({ top: true }),
    autocompletion({ aboveCursor: false, icons: false }),
    syntaxHighlighting(editorColours),
    typedOverText(),
    // No binding takes the Tab key: whoever has only a keyboard leaves as he came.
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}

/**
 * Text typed over other text is put in by the editor: the browser's own editing would carry the look of the old text
 * along as inline style, which the page's policy forbids.
 */
function typedOverText(): Extension {
  return EditorView.domEventHandlers({
    beforeinput(event, view) {
      const text = event.data;
      const selected = getSelection();
      if (
        event.inputType !== 'insertText' ||
        text === null ||
        event.isComposing ||
        view.state.readOnly ||
        selected === null ||
        selected.isCollapsed ||
        !view.contentDOM.contains(selected.anchorNode)
      )
        return false;
      const { startContainer, startOffset, endContainer, endOffset } = selected.getRangeAt(0);
      const [from, to] = [view.posAtDOM(startContainer, startOffset), view.posAtDOM(endContainer, endOffset)];
      const insert = (): Transaction =>
        view.state.update({
          changes: { from, to, insert: text },
          selection: { anchor: from + text.length },
          userEvent: 'input.type',
          scrollIntoView: true,
        });
      if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert)))
        view.dispatch(insert());
      event.preventDefault();
      return true;
    },
  });
}

function manner(
  label: string,
  { isReadOnly, isInvalid }: { isReadOnly: boolean; isInvalid: boolean },
  descriptions: readonly string[],
): Extension {
  return [
    EditorState.readOnly.of(isReadOnly),
    ...(isReadOnly ? [] : [highlightActiveLine()]),
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-describedby': descriptions.join(' '),
      spellcheck: 'false',
      autocorrect: 'off',
      autocapitalize: 'off',
      ...(isReadOnly ? { 'aria-readonly': 'true' } : {}),
      ...(isInvalid ? { 'aria-invalid': 'true' } : {}),
    }),
  ];
}

function bounded(max: () => number, say: (isFull: boolean) => void): Extension {
  return EditorState.transactionFilter.of((change) => {
    if (!change.docChanged) return change;
    const isRefused =
      change.annotation(FROM_OUTSIDE) !== true &&
      change.newDoc.length > max() &&
      change.newDoc.length > change.startState.doc.length;
    // Not while the editor is at work.
    queueMicrotask(() => say(isRefused));
    return isRefused ? [] : change;
  });
}

function reporting(changed: (text: string) => void): Extension {
  return EditorView.updateListener.of((update) => {
    if (update.docChanged && !update.transactions.some((change) => change.annotation(FROM_OUTSIDE) === true))
      changed(update.state.doc.toString());
  });
}

/** Tells what the checks found, whenever they found something else. */
function judging(say: (found: string) => void): Extension {
  return EditorView.updateListener.of(({ state, transactions }) => {
    if (transactions.some(({ effects }) => effects.some((effect) => effect.is(setDiagnosticsEffect))))
      say(foundIn(state));
  });
}
