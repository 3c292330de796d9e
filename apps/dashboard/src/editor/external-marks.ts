/** CSS class of marks from outside the editor, whose messages are shown next to it. */
export const GIVEN = 'cm-given';
