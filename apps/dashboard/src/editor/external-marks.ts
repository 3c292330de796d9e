/** Class of the marks that others gave of a text: what they say stands beside the editor. */
export const GIVEN = 'cm-given';
