/** Faults of members in words for people. */
import { fieldErrorText } from './field-error-words.ts';

test.each([
  ['/name', 'name must not be empty', 'This must not be empty.'],
  ['/triggers/0/webhook_uids', 'triggers[0].webhook_uids must have at least 1 entry', 'Choose at least one webhook.'],
  ['/triggers/12/cron', 'triggers[12].cron must have at most 200 characters', 'This must have at most 200 characters'],
  ['/slug', 'slug "A B" is not one of a, b', 'slug "A B" is not one of a, b'],
  ['/name', 'another automation is called like that', 'another automation is called like that'],
  ['', 'the body must be an object', 'the body must be an object'],
])('%s: %s', (pointer, message, words) => expect(fieldErrorText(pointer, message)).toBe(words));
