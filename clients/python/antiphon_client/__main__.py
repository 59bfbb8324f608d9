"""``python -m antiphon_client``: the command line."""

import sys

if __name__ == "__main__":
    try:
        from antiphon_client.cli import main

        main()
    except KeyboardInterrupt:  # in the instant before or after main, which meets its own
        sys.exit(130)
