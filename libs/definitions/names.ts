/**
 * The light door of `#definitions`: what names and paths say, without the readers of files. For the web page, which has
 * to stay small.
 */
export { isDefinitionPath } from './definition-paths.ts';
export { slugOf, suggestedSecretName } from './slugs.ts';
