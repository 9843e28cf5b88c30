#!/usr/bin/env bash
# Names what is missing, if anything: PHP's extension, whose path has the version of PHP.
php -m | grep -qx soap || echo 'PHP extension soap (package php-soap)'
