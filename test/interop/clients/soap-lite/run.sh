perl "$here/client.pl" "$1" "$2"
