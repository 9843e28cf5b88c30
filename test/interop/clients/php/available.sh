# Names what is missing, if anything: PHP's extension, whose path has the version of PHP.
php -m | grep -x soap >/dev/null || echo 'PHP extension soap (package php-soap)'
