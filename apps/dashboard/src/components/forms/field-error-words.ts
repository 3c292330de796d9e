/** Error messages of request members as texts for form fields. */

/** The server begins its sentences with the member's name in the request, which its field's label says already. */
export function fieldErrorText(pointer: string, message: string): string {
  if (pointer.endsWith('/webhook_uids') && message.endsWith('must have at least 1 entry'))
    return 'Choose at least one webhook.';
  const rest = restOf(message, nameIn(pointer));
  if (rest === 'must not be empty') return 'This must not be empty.';
  return rest === undefined || !/^(must|is|has|holds) /.test(rest) ? message : `This ${rest}`;
}

/** `/triggers/0/cron` as sentences call it: `triggers[0].cron`. */
function nameIn(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) =>
      /^\d+$/.test(segment) ? `[${segment}]` : `.${segment.replaceAll('~1', '/').replaceAll('~0', '~')}`,
    )
    .join('')
    .replace(/^\./, '');
}

function restOf(message: string, name: string): string | undefined {
  return name !== '' && message.startsWith(`${name} `) ? message.slice(name.length + 1) : undefined;
}
