/** The proof that this page's own style tags are ours; the server gives a new one with every page. */
export const NONCE: string = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
