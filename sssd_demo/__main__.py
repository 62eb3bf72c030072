"""`python -m sssd_demo COMMAND …`"""

import sys

from sssd_demo.cli import main
from sssd_demo.leaving import leave

leave(main(sys.argv[1:]))
