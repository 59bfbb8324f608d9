"""``python -m antiphon_client``: the command line."""

from antiphon_client.cli import main

if __name__ == "__main__":
    main()
