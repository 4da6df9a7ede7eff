#!/bin/sh
# Stands in for Debian's program of this name while tests install what they need: it starts no service.
exit 0
