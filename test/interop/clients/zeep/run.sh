/usr/bin/python3 "$here/client.py" "$@"
