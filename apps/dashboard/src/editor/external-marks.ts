/** What the checks of an editor found, and what was found outside it. */
import { forEachDiagnostic, type Diagnostic } from '@codemirror/lint';
import type { EditorState } from '@codemirror/state';

/** CSS class of marks from outside the editor, whose messages are shown next to it. */
export const GIVEN = 'cm-given';

/** “Error in line 2: wrap it in [ ]. And 1 more.”; what others said of the text stands at its field already. */
export function foundIn(state: EditorState): string {
  const all: { diagnostic: Diagnostic; line: number }[] = [];
  forEachDiagnostic(state, (diagnostic, from) => {
    if (diagnostic.markClass !== GIVEN) all.push({ diagnostic, line: state.doc.lineAt(from).number });
  });
  const errors = all.filter(({ diagnostic }) => diagnostic.severity === 'error');
  const [first] = errors.length > 0 ? errors : all;
  if (first === undefined) return '';
  const more = all.length === 1 ? '' : ` And ${all.length - 1} more.`;
  return (
    `${first.diagnostic.severity === 'error' ? 'Error' : 'Warning'} in line ` +
    `${first.line}: ${first.diagnostic.message.replace(/\.?$/, '.')}${more}`
  );
}
