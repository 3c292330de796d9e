/** Elements of the page: text is always text, never markup, whatever the document holds. */

/**
 * An element with attributes (`false` and undefined ones left out) and children (strings become text).
 * @param {string} name
 * @param {Record<string, string | boolean | undefined>} attributes
 * @param {...(Node | string | undefined)} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== ''));
  return made;
}

/** Paragraphs of a description: blank lines part them, `…` is code, http(s) addresses are links. */
export function paragraphs(text = '') {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => element('p', {}, ...inline(paragraph)));
}

/** The same for one line. */
export function inline(text = '') {
  return text
    .split(/(`[^`]+`)/)
    .filter((part) => part !== '')
    .map((part) => (/^`[^`]+`$/.test(part) ? element('code', {}, part.slice(1, -1)) : part));
}

/** A block of code with a button that copies it. */
export function codeBlock(text, label) {
  const button = element('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${label}` }, 'Copy');
  const say = (words) => {
    button.textContent = words;
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  };
  // Without https a browser has no clipboard for us.
  button.addEventListener(
    'click',
    () =>
      void (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))).then(
        () => say('Copied'),
        () => say('Select and copy by hand'),
      ),
  );
  return element(
    'div',
    { class: 'code' },
    element('pre', { tabindex: '0', 'aria-label': label }, element('code', {}, text)),
    button,
  );
}

/**
 * Something that opens; what is inside is made when it opens for the first time, so that schemas may refer to
 * themselves.
 */
export function disclosure(summary, content, open = false) {
  const made = element('details', {}, element('summary', {}, ...summary));
  let isFilled = false;
  const fill = () => {
    if (isFilled || !made.open) return;
    isFilled = true;
    made.append(...content());
  };
  made.addEventListener('toggle', fill);
  if (open) {
    made.open = true;
    fill();
  }
  return made;
}
