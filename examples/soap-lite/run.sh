#!/usr/bin/env bash
set -euo pipefail
perl program.pl
