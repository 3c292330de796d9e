/** Completion scripts for bash, zsh and fish, made of the command table. contract §11.9. */
import type { CompletionCall, CompletionOption } from './words.ts';

/** A script by the name of its shell. */
export const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Readonly<
  Record<string, (calls: readonly CompletionCall[]) => string>
>;
export type Shell = keyof typeof SCRIPTS;

/** One quoted word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** `--server|-s`: the patterns of a `case`. */
function patternOf({ word, short }: CompletionOption): string {
  return short === undefined ? word : `${word}|${short}`;
}

/** What stands behind an option that takes a value, as arms of a `case`. */
function valueArms(
  calls: readonly CompletionCall[],
  path: string,
  list: (values: readonly string[]) => string,
): string {
  const lines = calls.flatMap(({ words, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const act = option.isPath ? path : option.values.length > 0 ? list(option.values) : ':';
        const patterns = patternOf(option)
          .split('|')
          .map((name) => quoted(`${words.join(' ')} ${name}`));
        return `    ${patterns.join('|')}) ${act}; return ;;`;
      }),
  );
  return lines.join('\n');
}

/** The words before the one that is typed name the call: at most two, of those that are known. */
function bashScript(calls: readonly CompletionCall[]): string {
  const list = (values: readonly string[]): string => `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$cur"))`;
  const known = calls.filter(({ words }) => words.length > 0).map(({ words }) => quoted(words.join(' ')));
  const arms = calls.map(({ words, next, options, takesPaths }) => {
    const all = [...next.map(({ word }) => word), ...options.flatMap(({ word }) => [word])];
    const files = takesPaths ? '; [[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- "$cur"))' : '';
    return `    ${quoted(words.join(' '))}) ${list(all)}${files} ;;`;
  });
  return `# Completion of millwright for bash: eval "$(millwright completion bash)"
_millwright() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} call='' word at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD && at < 3; at++)); do
    word=\${call:+$call }\${COMP_WORDS[at]}
    case "$word" in
      ${known.join('|')}) call=$word ;;
      *) break ;;
    esac
  done
  case "$call $prev" in
${valueArms(calls, 'COMPREPLY=($(compgen -f -- "$cur"))', list)}
  esac
  case "$call" in
${arms.join('\n')}
  esac
}
complete -o filenames -F _millwright millwright
`;
}

function zshScript(calls: readonly CompletionCall[]): string {
  const list = (values: readonly string[]): string => `compadd -- ${values.map(quoted).join(' ')}`;
  const known = calls.filter(({ words }) => words.length > 0).map(({ words }) => quoted(words.join(' ')));
  const described = ({ word, meaning }: { word: string; meaning: string }): string =>
    quoted(`${word.replaceAll(':', '\\:')}:${meaning}`);
  const arms = calls.map(({ words, next, options, takesPaths }) => {
    const verbs = next.length === 0 ? [] : [`found=(${next.map(described).join(' ')}); _describe verb found`];
    const files = takesPaths ? ['_files'] : [];
    const given = `found=(${options.map(described).join(' ')}); _describe option found`;
    const plain = [...verbs, ...files].join('; ') || ':';
    return `    ${quoted(words.join(' '))}) if [[ $PREFIX == -* ]]; then ${given}; else ${plain}; fi ;;`;
  });
  return `#compdef millwright
# Completion of millwright for zsh: a file called _millwright in a folder of $fpath, or
# eval "$(millwright completion zsh)" behind compinit.
_millwright() {
  local call='' word at prev=\${words[CURRENT - 1]}
  local -a found
  for ((at = 2; at < CURRENT && at < 4; at++)); do
    word=\${call:+$call }\${words[at]}
    case "$word" in
      ${known.join('|')}) call=$word ;;
      *) break ;;
    esac
  done
  case "$call $prev" in
${valueArms(calls, '_files', list)}
  esac
  case "$call" in
${arms.join('\n')}
  esac
}
if [[ $funcstack[1] == _millwright ]]; then _millwright "$@"; else compdef _millwright millwright; fi
`;
}

function fishScript(calls: readonly CompletionCall[]): string {
  const known = calls.filter(({ words }) => words.length > 0).map(({ words }) => quoted(words.join(' ')));
  const lines = calls.flatMap(({ words, next, options, takesPaths }) => {
    const here = `-n ${quoted(`__millwright_at ${fishQuoted(words.join(' '))}`)}`;
    return [
      ...next.map(({ word, meaning }) => `complete -c millwright ${here} -a ${word} -d ${fishQuoted(meaning)}`),
      ...options.map((option) => `complete -c millwright ${here} ${fishOption(option)}`),
      ...(takesPaths ? [`complete -c millwright ${here} -F`] : []),
    ];
  });
  return `# Completion of millwright for fish: ~/.config/fish/completions/millwright.fish
function __millwright_at
  set -l call ''
  for word in (commandline -opc)[2..3]
    set -l longer (string trim "$call $word")
    contains -- $longer ${known.join(' ')}; or break
    set call $longer
  end
  test "$call" = "$argv[1]"
end
complete -c millwright -f
${lines.join('\n')}
`;
}

function fishOption({ word, short, meaning, takesValue, values, isPath }: CompletionOption): string {
  return [
    `-l ${word.slice(2)}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(takesValue ? [isPath ? '-r -F' : '-x'] : []),
    ...(values.length > 0 ? [`-a ${fishQuoted(values.join(' '))}`] : []),
    `-d ${fishQuoted(meaning)}`,
  ].join(' ');
}

/** fish knows two escapes between single quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
