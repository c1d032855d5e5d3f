"""The version of Diptych."""

VERSION = "0.1.0"
