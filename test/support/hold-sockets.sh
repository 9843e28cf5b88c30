# Does with sockets what a service manager does: keeps those that it was started with open, starts a program on them, and
# starts it again whenever it ends. On SIGTERM it ends the program and then itself.
trap 'kill "$program"; wait "$program"; exit' TERM
while :; do
  sh -c 'LISTEN_PID=$$ exec "$@"' sh "$@" &
  program=$!
  wait "$program"
done
