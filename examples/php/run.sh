#!/usr/bin/env bash
set -euo pipefail
php program.php
