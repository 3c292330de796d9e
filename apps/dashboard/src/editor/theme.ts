/** How the editors look: as the page, in its light and its dark. */
import { HighlightStyle } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const BORDER = '1px solid var(--mantine-color-default-border)';

export function editorTheme(minHeight = '6rem', maxHeight = '28rem'): Extension {
  return EditorView.theme({
    '&': {
      border: '1px solid light-dark(var(--mantine-color-gray-6), var(--mantine-color-dark-3))',
      borderRadius: 'var(--mantine-radius-md)',
      backgroundColor: 'var(--mantine-color-body)',
      color: 'var(--mantine-color-text)',
      fontSize: '0.86rem',
      overflow: 'hidden',
    },
    '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '1px' },
    '.cm-scroller': {
      fontFamily: 'var(--mantine-font-family-monospace)',
      minHeight,
      maxHeight,
      overflow: 'auto',
      lineHeight: '1.5',
    },
    '.cm-content': { caretColor: 'var(--mantine-color-text)', minHeight },
    '.cm-line': { unicodeBidi: 'isolate' },
    '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
    '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--mantine-color-dimmed)', border: 'none' },
    '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'light-dark(rgb(0 0 0 / 4%), rgb(255 255 255 / 5%))' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      backgroundColor: 'light-dark(#b9d7f5, #2b4a6b)',
    },
    '.cm-specialChar': { color: 'light-dark(#a61e4d, #faa2c1)' },
    '.cm-tooltip, .cm-panels': {
      backgroundColor: 'var(--mantine-color-body)',
      color: 'var(--mantine-color-text)',
      border: BORDER,
    },
    '.cm-tooltip': {
      zIndex: '150',
      maxWidth: 'min(30rem, 90vw)',
      borderRadius: 'var(--mantine-radius-sm)',
      boxShadow: 'var(--mantine-shadow-md)',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
      backgroundColor: 'light-dark(#1864ab, #a5d8ff)',
      color: 'light-dark(#ffffff, #1a1b1e)',
    },
    '.cm-tooltip.cm-completionInfo': { padding: '0.4rem 0.6rem', whiteSpace: 'pre-wrap' },
    '.cm-diagnostic': { whiteSpace: 'pre-wrap' },
    '.cm-button, .cm-textfield': {
      backgroundImage: 'none',
      backgroundColor: 'var(--mantine-color-body)',
      color: 'var(--mantine-color-text)',
      border: '1px solid light-dark(var(--mantine-color-gray-6), var(--mantine-color-dark-3))',
      borderRadius: 'var(--mantine-radius-sm)',
    },
    '.cm-hover': { padding: '0.4rem 0.6rem', whiteSpace: 'pre-wrap' },
  });
}

/** Readable (WCAG AA) on both grounds. */
export const editorColours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'light-dark(#1862ab, #74c0fc)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'light-dark(#226b2d, #8ce99a)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'light-dark(#8a3d00, #ffc078)' },
  { tag: [tags.keyword, tags.processingInstruction, tags.meta], color: 'light-dark(#6741a5, #d0bfff)' },
  { tag: tags.heading, fontWeight: '700', color: 'light-dark(#1862ab, #74c0fc)' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.monospace, color: 'light-dark(#8a3d00, #ffc078)' },
  { tag: [tags.link, tags.url], textDecoration: 'underline' },
  { tag: tags.comment, color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
]);
