#!/bin/sh
# Example command of Millwright: what the service runs when the operator configured no agent.
# It reads the prompt on stdin and event-payload.json beside it, and writes report.md. Replace it with a real agent:
# anything that takes a prompt on stdin, works in its current folder and ends with exit code 0 on success.
set -eu

payload=event-payload.json
first_line=

# The first line with something in it; the rest is read too, so that the writer is never left with a closed pipe.
while IFS= read -r line || [ -n "$line" ]; do
  [ -n "$first_line" ] || first_line=$line
done

# Keys of the outermost object, one a line. Walks the text character by character in awk: strings may hold braces,
# quotes and anything else. Control characters never reach the report.
top_level_keys() {
  LC_ALL=C awk '
    BEGIN { RS = "\001"; limit = 50; limit_length = 80 }
    {
      depth = 0; in_string = 0; escaped = 0; text = ""; found = 0
      count = length($0)
      for (at = 1; at <= count && found < limit; at++) {
        c = substr($0, at, 1)
        if (in_string) {
          if (escaped) { escaped = 0; if (depth == 1 && length(text) < limit_length) text = text "\\" c }
          else if (c == "\\") escaped = 1
          else if (c == "\"") { in_string = 0; last = text }
          # Longer ones are values: no need to gather them.
          else if (depth == 1 && length(text) < limit_length) text = text c
          continue
        }
        if (c == "\"") { in_string = 1; text = "" }
        else if (c == ":" && depth == 1 && outer == "{") { print last; found++ }
        else if (c == "{" || c == "[") { depth++; if (depth == 1) outer = c }
        else if (c == "}" || c == "]") depth--
      }
      exit
    }' "$1" | LC_ALL=C tr -d '\000-\011\013-\037\140\177'
}

{
  echo '# Report'
  echo
  echo "Run ${MILLWRIGHT_RUN_ID:-unknown}, execution ${MILLWRIGHT_EXECUTION_EPOCH:-1}."
  echo
  printf '%s\n' '## Prompt' '' '```' "$first_line" '```'
  echo
  echo '## Payload'
  echo
  if [ -f "$payload" ]; then
    size=$(wc -c < "$payload" | tr -d ' ')
    echo "$payload: $size bytes."
    keys=$(top_level_keys "$payload")
    if [ -n "$keys" ]; then
      echo
      echo 'Top-level keys:'
      echo
      printf '%s\n' "$keys" | sed 's/^/- `/; s/$/`/'
    fi
  else
    echo 'This run has no payload.'
  fi
} > report.md

printf 'Prompt: %s\n' "$first_line"
if [ -f "$payload" ]; then
  printf 'Payload: %s bytes\n' "$size"
  printf 'Keys: %s\n' "$(printf '%s' "$keys" | tr '\n' ' ')"
fi
echo 'Wrote report.md'
