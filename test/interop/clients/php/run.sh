php "$here/client.php" "$@"
