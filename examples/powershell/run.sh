#!/usr/bin/env bash
set -euo pipefail
pwsh -NoProfile -File program.ps1
