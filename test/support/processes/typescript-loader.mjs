// Lets a child process of a test run a TypeScript program from its source: node --conditions=source --import <this
// file> program.ts
import { register } from 'node:module';

register(new URL('./typescript-hooks.mjs', import.meta.url));
