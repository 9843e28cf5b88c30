node "$here/client.cjs" "$1" "$2"
