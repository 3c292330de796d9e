/** Colours of code as classes of a style sheet: the content policy allows no style attributes. */
import { createHash } from 'node:crypto';

/** Rules by the text of their declarations; the highlighter uses a few dozen. */
const classes = new Map();

/** For the highlighter: each `style` becomes a class. */
export const styleToClass = {
  name: 'style-to-class',
  pre: (node) => replaceStyle(node),
  span: (node) => replaceStyle(node),
};

/** The style sheet of all classes that were used so far. */
export function codeStyles() {
  return [...classes].map(([style, name]) => `.${name}{${style}}\n`).join('');
}

function replaceStyle(node) {
  const { style } = node.properties;
  if (style === undefined) return;
  const text =
    typeof style === 'string'
      ? style
      : Object.entries(style)
          .map((pair) => pair.join(':'))
          .join(';');
  const name = `c-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
  classes.set(text, name);
  delete node.properties.style;
  node.properties.class = [node.properties.class ?? [], name].flat().join(' ');
}
