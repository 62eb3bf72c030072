"""`python -m sssd_demo COMMAND …`"""

import sys

from sssd_demo.cli import main

sys.exit(main(sys.argv[1:]))
