"""Types a key at a real terminal: runs `millwright login` behind a pseudo-terminal and prints what appears there."""
import os
import pty
import select
import sys

node, main, url = sys.argv[1:]
script = f"const {{ main }} = await import({main!r}); process.exitCode = await main(process.argv.slice(1));"
child, terminal = pty.fork()
if child == 0:
    os.execv(node, [node, "--input-type=module", "--eval", script, "login", "typed", "--server", url])
shown, is_typed = b"", False
while True:
    if terminal not in select.select([terminal], [], [], 100)[0]:
        sys.exit("the terminal is silent")
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    if not is_typed and b"API key" in shown:
        is_typed = True
        os.write(terminal, os.environ["TYPED"].encode() + b"\r")
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
