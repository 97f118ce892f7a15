"""Reports: one file a format, listed in `registry.py`. Data in, text out; nothing here judges."""
