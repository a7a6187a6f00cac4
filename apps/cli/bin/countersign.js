#!/usr/bin/env node
// A file that is there before the build, so that npm can link the command when it installs.
import "../dist/main.js";
